#include "engine/main/client/event_filter.h"

#include <sstream>

#include "engine/base/json.h"
#include "engine/main/client/log_page.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

/// Seq 1: EpochStarted at :01; 2 and 3: node-0 and node-1 at :02; 4: intent for queue-a of c2 at
/// :03; 5: LocalQueue team-a/jobs gone at :03; 6: ClusterQueue "a b" gone at :04.
std::unique_ptr<RocksdbLog> filtered_log(const ScratchDirectory& directory) {
  auto log = open_log(directory.path());
  PatchIntended intended;
  intended.cluster = "c2";
  intended.target = {Kind::cluster_queue, "", "queue-a"};
  intended.body = "{}";
  const std::vector<EventDraft> start{{"self", {}, EpochStarted{"hub-0", "0.1.0", 1, 1}}};
  const std::vector<EventDraft> middle{
      {"self", {3}, intended},
      {"hub", {}, ObjectGone{{Kind::local_queue, "team-a", "jobs"}, "u", "9"}}};
  const std::vector<EventDraft> end{
      {"hub", {}, ObjectGone{{Kind::cluster_queue, "", "a b"}, "u", "10"}}};
  const std::int64_t base = parse_rfc3339("2026-01-01T14:00:00Z")->ns;
  const auto append = [&](const std::vector<EventDraft>& drafts, std::int64_t second) {
    REQUIRE(log->append(drafts, LogTime{base + seconds(second).ns}, Epoch{1}).has_value());
  };
  append(start, 1);
  append(drafts(0, 2), 2);
  append(middle, 3);
  append(end, 4);
  return log;
}

std::string seqs_of(const ReadableLog& log, const LogSelection& selection) {
  std::ostringstream out;
  const auto printed = print_events(log, selection, LogOutput::json, out);
  if (!printed) return printed.error().message;
  std::string seqs;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);)
    seqs += (seqs.empty() ? "" : " ") + Json::parse(line)["seq"].dump();
  return seqs;
}

TEST_CASE("terms of --where select events, and all of them have to hold") {
  ScratchDirectory directory;
  const auto log = filtered_log(directory);
  const auto where = [&](const std::string& text) { return seqs_of(*log, {.where = text}); };
  CHECK(where("") == "1 2 3 4 5 6");
  CHECK(where("kind=Node") == "2 3");
  CHECK(where("kind!=Node") == "1 4 5 6");
  CHECK(where("kind~Queue") == "4 5 6");
  CHECK(where("kind=PatchIntended") == "4");
  CHECK(where("kind~Gone") == "5 6");
  CHECK(where("cluster=c2") == "4");
  CHECK(where("cluster=hub name~jo") == "5");
  CHECK(where("namespace=team-a") == "5");
  CHECK(where("name=\"a b\"") == "6");
  CHECK(where("name!~node kind!=EpochStarted") == "4 5 6");
  CHECK(where("seq>2 seq<=4") == "3 4");
  CHECK(where("seq=5") == "5");
  CHECK(where("seq!=5 seq>=4") == "4 6");
  CHECK(where("time>14:00:02") == "4 5 6");
  CHECK(where("time>=14:00:02 time<14:00:03") == "2 3");
  CHECK(where("time<=2026-01-01T14:00:01Z") == "1");
  CHECK(where("time=14:00:03") == "4 5");
  CHECK(where("time!=14:00:03") == "1 2 3 6");
  CHECK(where("time>-2s") == "4 5 6");
  CHECK(where("time>14:01") == "");
  CHECK(where("time>=\"2026-01-01 14:00:03\"") == "4 5 6");
  CHECK(where("time<2026-01-01") == "");
  CHECK(where("time>=end-1s") == "4 5 6");
}

TEST_CASE("--where has \"or\", parentheses, texts and regular expressions") {
  ScratchDirectory directory;
  const auto log = filtered_log(directory);
  const auto where = [&](const std::string& text) { return seqs_of(*log, {.where = text}); };
  CHECK(where("seq=1 or seq=3") == "1 3");
  CHECK(where("seq<2 or kind=Node name~1 or namespace=team-a") == "1 3 5");
  CHECK(where("(kind=Node or kind~Gone) seq>2 (seq<4 or seq>5)") == "3 6");
  CHECK(where("((seq=2) OR (seq=4))") == "2 4");
  // A text is searched in the whole event, in either case; quotes keep "or" a text.
  CHECK(where("QUEUE-A") == "4");
  CHECK(where("\"a b\"") == "6");
  CHECK(where("nowhere") == "");
  CHECK(where("\"or\" seq<0") == "");
  // RE2 between slashes: of a field, and of the whole event.
  CHECK(where("name~/^node-[1-9]$/") == "3");
  CHECK(where("name!~/^(node|queue)-/ seq>1") == "5 6");
  CHECK(where("/\"name\":\"(node-1|a b)\"/") == "3 6");
  // A node's flags are searched by the words that people have for them.
  CHECK(where("notready or Ready") == "2 3");
  CHECK(where("/ Ready$/ or / NotReady$/") == "2 3");
  CHECK(where("(name~/-0$/ or kind~/^Epoch/)") == "1 2");
  // A slash that ends nowhere is a text.
  CHECK(where("name~/a") == "");
}

TEST_CASE("times of --where get the zone's offset before they are sent to a hub") {
  const auto zone = choose_time_zone("Europe/Berlin");
  REQUIRE(zone.has_value());
  const LogTime now = *parse_rfc3339("2026-01-01T14:00:00Z");
  const auto sent = [&](const std::string& text) {
    return EventFilter::with_offsets(text, {now, now, *zone});
  };
  CHECK(sent("(kind=Node or time>14:00) x") == "( kind=Node or time>\"14:00+01:00\" ) x");
  CHECK(sent("time>=\"2026-07-01 12:00\"") == "time>=\"2026-07-01T12:00:00+02:00\"");
  CHECK(sent("time>-2h time<end") == "time>\"-2h\" time<\"end\"");
  CHECK(EventFilter::with_offsets("time>14:00", {now, now, {}}) == "time>14:00");
}

TEST_CASE("a bad term is refused, named, with what was expected") {
  ScratchDirectory directory;
  const auto log = filtered_log(directory);
  const auto refused = [&](const std::string& text, const std::string& words) {
    const auto filter = EventFilter::parse(*log, text);
    REQUIRE_FALSE(filter.has_value());
    CHECK(filter.error().code == ErrorCode::bad_input);
    INFO(filter.error().message);
    CHECK(filter.error().message.find(words) != std::string::npos);
  };
  refused("(kind=Node", "a closing parenthesis");
  refused("kind=Node)", "an opening parenthesis");
  refused("kind=Node or", "on each side of");
  refused("or kind=Node", "on each side of");
  refused("()", "within parentheses");
  refused("name~/[/", "a regular expression");
  refused(std::string(101, '(') + "x", "at most 100 terms");
  refused("kind=", "FIELD OPERATOR VALUE");
  refused("colour=red", "one of kind, cluster, namespace, name, seq and time");
  refused("kind=Nodes", "a kind (ClusterQueue)");
  refused("kind>Node", "= != ~ or !~ behind kind");
  refused("time~14", "behind time");
  refused("time=noon", "--where time");
  refused("seq>14:00", "a seq");
  refused("seq>noon", "--where seq");
  refused("time>12", "a time");
  refused("name=\"a", "a closing quote");
}

TEST_CASE("--last selects the newest of the selected events, in their order") {
  ScratchDirectory directory;
  const auto log = filtered_log(directory);
  CHECK(seqs_of(*log, {.last = "2"}) == "5 6");
  CHECK(seqs_of(*log, {.where = "kind=Node", .last = "1"}) == "3");
  CHECK(seqs_of(*log, {.to = "seq:4", .last = "3"}) == "2 3 4");
  CHECK(seqs_of(*log, {.from = "seq:5", .last = "9"}) == "5 6");
  CHECK(seqs_of(*log, {.last = "0"}).find("--last: expected a number") == 0);
  CHECK(seqs_of(*log, {.last = "2x"}).find("--last: expected a number") == 0);
}

TEST_CASE("a hub's pages of --last come newest first, and older ones follow") {
  ScratchDirectory directory;
  const auto log = filtered_log(directory);
  const auto first = answer_log_target(*log, "/log/cat?last=2&output=text");
  REQUIRE(first.has_value());
  const Json page = Json::parse(*first);
  CHECK(page["events"] == 2);
  CHECK(page["next"]["to"] == "seq:4");
  const auto rest = answer_log_target(*log, "/log/cat?last=9&to=seq:4");
  REQUIRE(rest.has_value());
  CHECK(Json::parse(*rest)["events"] == 4);
  CHECK_FALSE(Json::parse(*rest).contains("next"));
}

}  // namespace
}  // namespace fairlead
