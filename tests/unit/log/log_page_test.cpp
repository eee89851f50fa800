#include "engine/main/client/log_page.h"

#include <algorithm>
#include <sstream>

#include "engine/main/client/http_target.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

struct Printed {
  std::string notes{};
  int exit_code = -1;
  std::string text;
  int pages = 0;
};

/// What the command prints when a hub with that log answers it.
Printed from_hub(const ReadableLog& log, const char* subject, const LogSelection& selection,
                 LogOutput output) {
  Printed printed;
  const AskHub ask = [&](const std::string& target) {
    ++printed.pages;
    return answer_log_target(log, target);
  };
  std::ostringstream out, err;
  const auto answered = print_from_hub(ask, subject, selection, output, out, err);
  REQUIRE(answered.has_value());
  printed.exit_code = answered->exit_code;
  printed.notes = err.str();
  printed.text = out.str();
  return printed;
}

std::string from_log(const ReadableLog& log, const LogSelection& selection, LogOutput output) {
  std::ostringstream out;
  REQUIRE(print_events(log, selection, output, out).has_value());
  return out.str();
}

TEST_CASE("A hub's log is printed over HTTP as it is printed where it lies") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  for (int i = 0; i < 40; ++i)
    REQUIRE(log->append(drafts(100 * i, 100), LogTime{1 + i}, Epoch{1}).has_value());
  const LogSelection all;
  const Printed json = from_hub(*log, "cat", all, LogOutput::json);
  CHECK(json.pages > 1);
  CHECK(json.text == from_log(*log, all, LogOutput::json));
  const LogSelection some{.from = "seq:17", .to = "3900", .kind = "Node", .object = "node-1 &x=%"};
  CHECK(from_hub(*log, "cat", some, LogOutput::text).text == from_log(*log, some, LogOutput::text));
  const LogSelection one{.from = "seq:5", .to = "seq:9", .raw = true};
  CHECK(from_hub(*log, "cat", one, LogOutput::json).text == from_log(*log, one, LogOutput::json));
  std::ostringstream stat;
  CHECK(print_stat(*log, LogOutput::text, stat).value() == 0);
  const Printed answer = from_hub(*log, "stat", {}, LogOutput::text);
  CHECK(answer.text == stat.str());
  CHECK(answer.exit_code == 0);
}

TEST_CASE("A hub counts times from its now, and says which moments it took") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  const LogTime last = *parse_rfc3339("2026-11-21T14:17:05Z");
  REQUIRE(log->append(drafts(0, 2), {last.ns - hours(3).ns}, Epoch{1}).has_value());
  REQUIRE(log->append(drafts(2, 2), last, Epoch{1}).has_value());
  const auto asked = [&](const std::string& query, std::optional<LogTime> now) {
    const auto answer = answer_log_target(*log, "/log/cat?output=text&" + query, now);
    REQUIRE(answer.has_value());
    const Json page = Json::parse(*answer);
    const std::string text = page["text"];
    return std::to_string(std::count(text.begin(), text.end(), '\n')) + " " +
           page.value("note", "");
  };
  const LogTime now{last.ns + hours(2).ns};
  CHECK(asked("from=-3h", now) == "2 --from -3h is 2026-11-21T13:17:05Z");
  CHECK(asked("from=end-3h", now) == "4 --from end-3h is 2026-11-21T11:17:05Z");
  CHECK(asked("from=-3h", std::nullopt) == "4 --from -3h is 2026-11-21T11:17:05Z");
  CHECK(asked("where=time%3E-3h", now) == "2 time -3h is 2026-11-21T13:17:05Z");
  CHECK(asked("from=2026-11-21T14:00:00Z", now) == "2 ");
  // A hub whose clock is behind its log: now is the log's end.
  CHECK(asked("from=now", LogTime{}) == "2 --from now is 2026-11-21T14:17:05Z");
}

TEST_CASE("Pages end where the log ended at the first of them") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  for (int i = 0; i < 40; ++i)
    REQUIRE(log->append(drafts(100 * i, 100), LogTime{1}, Epoch{1}).has_value());
  const std::string before = from_log(*log, {}, LogOutput::json);
  const AskHub growing = [&](const std::string& target) {
    auto answer = answer_log_target(*log, target);
    REQUIRE(log->append(drafts(0, 1), LogTime{2}, Epoch{1}).has_value());
    return answer;
  };
  std::ostringstream out;
  std::ostringstream err;
  const auto answered = print_from_hub(growing, "cat", {}, LogOutput::json, out, err);
  REQUIRE(answered.has_value());
  CHECK(out.str() == before);
  CHECK(answered->end == Seq{4000});
  CHECK(err.str().empty());
}

TEST_CASE("What cannot be asked of a hub's log is named") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  REQUIRE(log->append(drafts(0, 1), LogTime{1}, Epoch{1}).has_value());
  for (const auto& [target, named] : {std::pair{"/log/cat?colour=red", "colour=red"},
                                      {"/log/cat?raw=maybe", "raw=maybe"},
                                      {"/log/cat?output=xml", "output=xml"},
                                      {"/log/cat?kind=Nodule", "Nodule"},
                                      {"/log/cat?from=noon", "noon"},
                                      {"/log/cat?from=%2", "%2"},
                                      {"/log/prune", "prune"}}) {
    CAPTURE(target);
    const auto answer = answer_log_target(*log, target);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == ErrorCode::bad_input);
    CHECK(answer.error().message.find(named) != std::string::npos);
  }
}

TEST_CASE("A client that is no hub is distinguished from one") {
  for (const char* said :
       {"<html>", "[]", "{}", R"({"text":5,"exit":0})", R"({"text":"","exit":"no"})",
        R"({"text":"","exit":0,"next":7})", R"({"text":"","exit":0,"next":{"from":"seq:2"}})"}) {
    CAPTURE(said);
    std::ostringstream out;
    const AskHub stranger = [said](const std::string&) {
      return Result<std::string>(std::string(said));
    };
    const auto printed = print_from_hub(stranger, "cat", {}, LogOutput::json, out, out);
    REQUIRE_FALSE(printed.has_value());
    CHECK(printed.error().code == ErrorCode::unavailable);
    CHECK(printed.error().message == "the server answered something else than a page of a log");
    CHECK(out.str().empty());
  }
}

TEST_CASE("A target is read as it was written") {
  HttpTarget target{"/log/cat", {}};
  target.add("from", "");
  target.add("object", "a/b c+d&e=f%");
  CHECK(to_text(target) == "/log/cat?object=a%2Fb%20c%2Bd%26e%3Df%25");
  const auto read = parse_target(to_text(target) + "&raw&to=x+y");
  REQUIRE(read.has_value());
  CHECK(read->path == "/log/cat");
  CHECK(read->parameters == std::vector<std::pair<std::string, std::string>>{
                                {"object", "a/b c+d&e=f%"}, {"raw", ""}, {"to", "x y"}});
}

}  // namespace
}  // namespace fairlead
