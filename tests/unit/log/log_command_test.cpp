#include "engine/main/commands/log_command.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "engine/base/json.h"
#include "engine/main/commands/commands.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

struct Answer {
  int exit_code = -1;
  std::string out;
  std::string err;

  std::vector<Json> lines() const {
    std::vector<Json> parsed;
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) parsed.push_back(Json::parse(line));
    return parsed;
  }
  std::vector<std::uint64_t> seqs() const {
    std::vector<std::uint64_t> found;
    for (const Json& line : lines()) found.push_back(line.at("seq"));
    return found;
  }
};

Answer stat(const fs::path& data, LogOutput output = LogOutput::json) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = log_stat({.data = data}, output, out, err);
  return {code, out.str(), err.str()};
}
Answer cat(const fs::path& data, const LogSelection& selection,
           LogOutput output = LogOutput::json) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = log_cat({.data = data}, selection, output, out, err);
  return {code, out.str(), err.str()};
}
Answer verify(const fs::path& data, LogOutput output = LogOutput::json) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = log_verify({.data = data}, output, out, err);
  return {code, out.str(), err.str()};
}

/// Seq 1: EpochStarted at :01; 2 and 3: node-0 and node-1 at :02; 4: intent for queue-a at :03; 5:
/// LocalQueue gone at :03.
void make_log(const fs::path& directory) {
  const auto log = open_log(directory);
  const std::vector<EventDraft> start{{"self", {}, EpochStarted{"hub-0", "0.1.0", 1, 1}}};
  PatchIntended intended;
  intended.cluster = "hub";
  intended.target = {Kind::cluster_queue, "", "queue-a"};
  intended.body = R"({"spec":{}})";
  const std::vector<EventDraft> end{
      {"self", {3}, intended},
      {"hub", {}, ObjectGone{{Kind::local_queue, "team-a", "jobs"}, "u", "9"}}};
  const std::int64_t base = 1'767'225'600'000'000'000;
  REQUIRE(log->append(start, LogTime{base + 1'000'000'000}, Epoch{1}).has_value());
  REQUIRE(log->append(drafts(0, 2), LogTime{base + 2'000'000'000}, Epoch{1}).has_value());
  REQUIRE(log->append(end, LogTime{base + 3'000'000'000}, Epoch{2}).has_value());
}

TEST_CASE("log stat prints the documented keys") {
  ScratchDirectory directory;
  make_log(directory.path());
  const Answer answer = stat(directory.path());
  CHECK(answer.exit_code == 0);
  Json json = Json::parse(answer.out);
  CHECK(json["bytes"].get<std::uint64_t>() > 0);
  json.erase("bytes");
  CHECK(json["raw_bytes"] == 0);
  json.erase("raw_bytes");
  CHECK(json ==
        Json::parse(R"({"first_seq":1,"last_seq":5,"events":5,"first_time":"2026-01-01T00:00:01Z",
    "last_time":"2026-01-01T00:00:03Z","epochs":[1,2],"chain":"ok","program_version":"0.1.0"})"));
  const Answer text = stat(directory.path(), LogOutput::text);
  CHECK(text.out.find("seq              1 to 5\n") != std::string::npos);
  CHECK(text.out.find("chain            ok\n") != std::string::npos);
}

TEST_CASE("log stat of an empty log has no times") {
  ScratchDirectory directory;
  {
    const auto log = open_log(directory.path());
  }
  const Json json = Json::parse(stat(directory.path()).out);
  CHECK(json["events"] == 0);
  CHECK(json["first_time"].is_null());
  CHECK(json["chain"] == "ok");
}

TEST_CASE("log cat prints one JSON line an event, selected by seq, time, kind and object") {
  ScratchDirectory directory;
  make_log(directory.path());
  const auto seqs = [&directory](const LogSelection& selection) {
    return cat(directory.path(), selection).seqs();
  };
  using Seqs = std::vector<std::uint64_t>;
  CHECK(seqs({}) == Seqs{1, 2, 3, 4, 5});
  CHECK(seqs({.from = "2", .to = "4"}) == Seqs{2, 3, 4});
  CHECK(seqs({.from = "seq:5"}) == Seqs{5});
  CHECK(seqs({.from = "6"}).empty());
  CHECK(seqs({.from = "4", .to = "2"}).empty());
  CHECK(seqs({.from = "2026-01-01T00:00:02Z"}) == Seqs{2, 3, 4, 5});
  CHECK(seqs({.from = "2026-01-01T00:00:01.5Z", .to = "2026-01-01T00:00:02Z"}) == Seqs{2, 3});
  CHECK(seqs({.to = "2025-01-01T00:00:00Z"}).empty());
  CHECK(seqs({.from = "-1s"}) == Seqs{2, 3, 4, 5});
  CHECK(seqs({.from = "-1.5s", .to = "-1s"}) == Seqs{2, 3});
  CHECK(seqs({.from = "-2h", .to = "-1h"}).empty());
  CHECK(seqs({.kind = "Node"}) == Seqs{2, 3});
  CHECK(seqs({.kind = "PatchIntended"}) == Seqs{4});
  CHECK(seqs({.kind = "ClusterQueue"}) == Seqs{4});
  CHECK(seqs({.object = "node-1"}) == Seqs{3});
  CHECK(seqs({.object = "team-a/jobs"}) == Seqs{5});
  CHECK(seqs({.object = "jobs"}) == Seqs{5});
  CHECK(seqs({.object = "team-b/jobs"}).empty());
  const Json intent = cat(directory.path(), {.from = "4", .to = "4"}).lines().front();
  CHECK(intent["fact"] == "PatchIntended");
  CHECK(intent["logTime"] == "2026-01-01T00:00:03Z");
  CHECK(intent["epoch"] == 2);
  CHECK(intent["source"] == "self");
  CHECK(intent["cause"] == 3);
  CHECK(cat(directory.path(), {.from = "5"}, LogOutput::text).out ==
        "5 2026-01-01T00:00:03Z hub ObjectGone LocalQueue team-a/jobs\n");
}

TEST_CASE("log cat prints the raw object beside an event while it is kept, if asked to") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  auto all = drafts(0, 2);
  all[1].raw = R"({"kind":"Node","status":{"phase":"x"}})";
  REQUIRE(log->append(all, LogTime{1}, Epoch{1}).has_value());
  const std::vector<Json> lines = cat(directory.path(), {.raw = true}).lines();
  CHECK_FALSE(lines[0].contains("raw"));
  CHECK(lines[1]["raw"] == Json::parse(all[1].raw));
  CHECK_FALSE(cat(directory.path(), {}).lines()[1].contains("raw"));
  CHECK(cat(directory.path(), {.raw = true}, LogOutput::text).out.find("\n  {\"kind\"") !=
        std::string::npos);
  REQUIRE(log->drop_raw_before({3}).has_value());
  CHECK_FALSE(cat(directory.path(), {.raw = true}).lines()[1].contains("raw"));
}

TEST_CASE("log stat counts the raw objects that are there, before and after they are in tables") {
  ScratchDirectory directory;
  const auto raw_bytes = [&directory] {
    return Json::parse(stat(directory.path()).out)["raw_bytes"].get<std::uint64_t>();
  };
  auto log = open_log(directory.path());
  auto all = drafts(0, 3);
  all[0].raw = std::string(1000, 'x');
  all[2].raw = std::string(234, 'x');
  REQUIRE(log->append(all, LogTime{1}, Epoch{1}).has_value());
  CHECK(raw_bytes() == 1234);
  CHECK(log->stat()->raw_bytes == 1234);
  REQUIRE(log->drop_raw_before({3}).has_value());
  CHECK(raw_bytes() == 234);
  REQUIRE(log->move_to_tables().has_value());
  const std::uint64_t in_tables = raw_bytes();
  CHECK(in_tables > 0);
  auto more = drafts(3, 1);
  more[0].raw = std::string(500, 'x');
  REQUIRE(log->append(more, LogTime{2}, Epoch{1}).has_value());
  CHECK(raw_bytes() == in_tables + 500);
}

TEST_CASE("log cat refuses what it does not understand") {
  ScratchDirectory directory;
  make_log(directory.path());
  for (const LogSelection& selection :
       {LogSelection{.from = "noon"}, LogSelection{.from = "-2x"}, LogSelection{.to = "-"},
        LogSelection{.to = "1.5"}, LogSelection{.from = "seq:"}, LogSelection{.kind = "Widget"},
        LogSelection{.object = "team-a/"}}) {
    const Answer answer = cat(directory.path(), selection);
    CHECK(answer.exit_code == 2);
    CHECK(answer.out.empty());
    CHECK(answer.err.find("expected") != std::string::npos);
  }
}

TEST_CASE("log verify says ok, or the first bad seq and exit code 1") {
  ScratchDirectory directory;
  make_log(directory.path());
  const Answer good = verify(directory.path());
  CHECK(good.exit_code == 0);
  CHECK(Json::parse(good.out)["chain"] == "ok");
  CHECK(Json::parse(good.out)["events"] == 5);
  CHECK(verify(directory.path(), LogOutput::text).out.starts_with("ok: 5 events, chain "));

  const fs::path wal = newest_wal(directory.path());
  std::string bytes = read_bytes(wal);
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 4);
  write_bytes(wal, bytes);
  const Answer bad = verify(directory.path());
  CHECK(bad.exit_code == 1);
  CHECK(Json::parse(bad.out)["chain"] == "broken@4");
  CHECK(Json::parse(bad.out)["first_bad_seq"] == 4);
  CHECK(verify(directory.path(), LogOutput::text).out.starts_with("broken at seq 4: "));
  const Answer stats = stat(directory.path());
  CHECK(stats.exit_code == 1);
  CHECK(Json::parse(stats.out)["chain"] == "broken@4");
  CHECK(Json::parse(stats.out)["last_seq"] == 3);
  const Answer events = cat(directory.path(), {});
  CHECK(events.exit_code == 3);
  CHECK(events.seqs() == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(events.err.find("seq 4") != std::string::npos);
}

TEST_CASE("A directory that holds no log is bad input to every log command") {
  ScratchDirectory directory;
  write_bytes(directory.path() / "notes", "x");
  for (const fs::path& data : {directory.path(), directory.path() / "missing"}) {
    for (const Answer& answer : {stat(data), cat(data, {}), verify(data)}) {
      CHECK(answer.exit_code == 2);
      CHECK(answer.out.empty());
      CHECK(answer.err.starts_with("fairlead log: "));
    }
  }
}

TEST_CASE("A log that is being written can be looked at") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  REQUIRE(log->append(drafts(0, 3), LogTime{1}, Epoch{1}).has_value());
  CHECK(cat(directory.path(), {}).seqs().size() == 3);
  REQUIRE(log->append(drafts(3, 1), LogTime{1}, Epoch{1}).has_value());
  CHECK(cat(directory.path(), {}).seqs().size() == 4);
  CHECK(verify(directory.path()).exit_code == 0);
}

TEST_CASE("The command line takes the documented flags") {
  const auto parse = [](std::vector<std::string> arguments) {
    CLI::App app;
    int exit_code = -1;
    // Where no place is given the hub of the kubeconfig is asked.
    add_log_command(app, {[](const HubPlace&) -> Result<AskHub> {
                      return Error{ErrorCode::bad_input, "no kubeconfig"};
                    }},
                    exit_code);
    std::reverse(arguments.begin(), arguments.end());
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError&) {
      return -2;
    }
    return exit_code;
  };
  CHECK(parse({"log", "stat", "--data", "/nonexistent", "-o", "json"}) == 2);
  CHECK(parse({"log", "cat", "--data", "/nonexistent", "--from", "1", "--to", "2", "--kind", "Node",
               "--object", "x"}) == 2);
  CHECK(parse({"log", "verify", "--data", "/nonexistent"}) == 2);
  CHECK(parse({"log", "cat", "--bundle", "/nonexistent", "--from", "-2h", "--raw"}) == 2);
  CHECK(parse({"log", "stat", "--data", "x", "--bundle", "y"}) == -2);
  CHECK(parse({"log", "export", "/nonexistent/x", "--data", "/nonexistent", "--to", "-1h"}) == 2);
  CHECK(parse({"log", "import", "/nonexistent", "--data", "/nonexistent"}) == 2);
  CHECK(parse({"log", "import", "/nonexistent"}) == -2);
  CHECK(parse({"log", "prune", "--data", "/nonexistent", "--before", "seq:5"}) == 2);
  CHECK(parse({"log", "prune", "--data", "/nonexistent"}) == -2);
  CHECK(parse({"log", "stat"}) == 2);
  CHECK(parse({"log", "stat", "--context", "c", "--data", "x"}) == 2);
  CHECK(parse({"log"}) == -2);
  CHECK(parse({"log", "cat", "--data", "x", "-o", "xml"}) == -2);
}

}  // namespace
}  // namespace fairlead
