// Which nodes were suppressed over time, against `audit why` at every step and beside it.
#include "replay/timeline/suppressed_nodes.h"

#include <catch2/catch.hpp>

#include "tests/unit/replay/audit_trace.h"

namespace fairlead {
namespace {

/// "suppressedUntil" of each node by `audit why`.
std::map<std::string, Json> suppressed_by_why(const ReadableLog& log, LogTime time) {
  const auto why = audit_why({log, nullptr}, {"qa", "od", "cpu"}, time);
  REQUIRE(why.has_value());
  std::map<std::string, Json> found;
  for (const Json& grant : why->document["grants"])
    for (const Json& node : grant["nodes"]) found[node["name"]] = node["suppressedUntil"];
  return found;
}

Json until_at(const Json& answer, const std::string& node, LogTime time) {
  Json until;
  for (const Json& row : answer["nodes"]) {
    if (row["node"] != node) continue;
    for (const Json& step : row["steps"])
      if (*parse_rfc3339(step[0].get<std::string>()) <= time) until = step[2];
  }
  return until;
}

TEST_CASE("at every moment the nodes that are suppressed are those of audit why") {
  MemoryLog log;
  rehearse(read_trace("tests/unit/replay/audit/node-suppressed.txt"), log);
  const LogTime end = log.last_time();
  const auto answer = suppressed_nodes(log, nullptr, "c1", {LogTime{}, end});
  REQUIRE(answer.has_value());
  CHECK(answer->document["leftOut"] == false);
  REQUIRE(answer->document["nodes"].size() == 1);
  std::size_t compared = 0, suppressed = 0;
  for (LogTime time = LogTime{} + seconds(60); time <= end; time = time + seconds(5)) {
    INFO(to_rfc3339(time));
    for (const auto& [node, until] : suppressed_by_why(log, time)) {
      CHECK(until_at(answer->document, node, time) == until);
      ++compared;
      if (!until.is_null()) ++suppressed;
    }
  }
  CHECK(compared > 100);
  CHECK(suppressed > 20);
  // The one that a part of the span begins with is in force there.
  const LogTime middle = LogTime{} + seconds(600);
  const auto part = suppressed_nodes(log, nullptr, "c1", {middle, end});
  REQUIRE(part.has_value());
  CHECK(until_at(part->document, "n2", middle) == "1970-01-01T00:34:55Z");
  CHECK(suppressed_nodes(log, nullptr, "c2", {middle, end})->document["nodes"].empty());
}

}  // namespace
}  // namespace fairlead
