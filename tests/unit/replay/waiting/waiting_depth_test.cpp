// How many waited, by what for.
#include "replay/timeline/waiting_depth.h"

#include <catch2/catch.hpp>

#include "tests/unit/replay/waiting/wait_log.h"

namespace fairlead {
namespace {

using namespace waiting;

// "10 2": from second 10 on two waited.
Lines steps_of(const Json& answer, const char* of) {
  Lines lines;
  for (const Json& one : answer["classes"])
    if (one["class"] == of)
      for (const Json& step : one["steps"])
        lines.push_back(std::to_string((parse_rfc3339(step[0].get<std::string>())->ns - at(0).ns) /
                                       1'000'000'000) +
                        " " + step[2].get<std::string>());
  return lines;
}

TEST_CASE("a queue's depth rises with each that waits and falls as they run, by class") {
  WaitLog log;
  log.local_queue(1);
  const auto see = [&](std::int64_t second, const char* name, const WorkloadFacts& facts) {
    log.observe(second, kHub, {Kind::workload, "team", name}, facts, name);
  };
  see(10, "a", job(10, 8, {pending("WaitingForQuota")}));
  see(20, "b", job(20, 8, {pending("WaitingForQuota")}));
  see(30, "a", job(10, 8, {pending("Deactivated")}));
  see(40, "b", admitted(20, 8));
  see(50, "c", job(50, 8, {pending("WaitingForQuota")}));
  log.append(60, kHub, SourceSynced{Kind::node, "", ""});
  const auto depth = waiting_depth({log.log, nullptr});
  REQUIRE(depth.has_value());
  const Json whole = waiting_depth_json(*depth, "q", {at(0), at(60)}, 100);
  CHECK(steps_of(whole, "quota") == Lines{"0 0", "10 1", "20 2", "30 1", "40 0", "50 1"});
  CHECK(steps_of(whole, "hold") == Lines{"0 0", "30 1"});
  const Json part = waiting_depth_json(*depth, "q", {at(25), at(45)}, 100);
  CHECK(steps_of(part, "quota") == Lines{"25 2", "30 1", "40 0"});
  CHECK(waiting_depth_json(*depth, "other", {at(0), at(60)}, 100)["classes"] == Json::array());
}

TEST_CASE("of many steps the highest of each stretch stay") {
  WaitingDepth depth;
  for (std::int64_t second = 1; second <= 1000; ++second)
    depth["q"][WaitClass::quota].push_back({at(second), {}, second == 777 ? 50 : second % 2});
  const Json answer = waiting_depth_json(depth, "q", {at(0), at(1000)}, 20);
  const Lines steps = steps_of(answer, "quota");
  CHECK(steps.size() <= 21);
  CHECK(std::find(steps.begin(), steps.end(), "777 50") != steps.end());
  CHECK(steps.back() == "1000 0");
}

}  // namespace
}  // namespace fairlead
