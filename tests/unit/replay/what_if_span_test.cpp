// Where a what-if begins and ends, and what it calls the same write.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/unit/replay/audit_trace.h"
#include "tests/unit/replay/what_if_asked.h"

namespace fairlead {
namespace {

LogTime at(std::int64_t minute, std::int64_t second = 0) {
  return LogTime{(minute * 60 + second) * seconds(1).ns};
}

std::string node(const char* name, const std::string& time, bool ready, bool cordoned = false) {
  return R"({"type":"MODIFIED","time":"1970-01-01T00:)" + time +
         R"(Z","cluster":"c1","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":")" +
         name + R"(","labels":{"type":"od"}},"spec":{"unschedulable":)" +
         (cordoned ? "true" : "false") +
         R"(},"status":{"allocatable":{"cpu":"4"},"conditions":[{"type":"Ready","status":")" +
         (ready ? "True" : "False") + "\"}]}}}\n";
}

// A queue that asks for everything that three nodes of 4 cpu have, and what happens to them.
void rehearse_nodes(const std::string& lines, MemoryLog& log) {
  std::istringstream in(
      "args: --set capacity.headroom.percent={} --set debounce.firstQuiet=0s\n"
      "include: small.yaml\n"
      R"({"type":"ADDED","object":{"apiVersion":"galaxy.kubestellar.io/v1alpha1",)"
      R"("kind":"ClusterResourceClaim","metadata":{"name":"k"},"spec":{"clusterName":"c1",)"
      R"("nominalResources":{"cpu":"1000"},"resourceAssignments":[{"clusterQueueName":"qa",)"
      R"("flavor":"od","resources":{"cpu":"12"}}]}}})"
      "\n" +
      node("n1", "00:00", true) + node("n2", "00:00", true) + node("n3", "00:00", true) + lines +
      "----\n");
  rehearse(read_trace(in), log);
}

// It shrinks at 1:55 and, five minutes after the node is back, grows at 8:00.
void rehearse_node_back(MemoryLog& log) {
  rehearse_nodes(node("n3", "01:40", false) + node("n3", "03:00", true), log);
}

TEST_CASE("a write of the same content twenty-five seconds later is not the same") {
  MemoryLog log;
  // n3 is gone for 20 s; when it is back n2 is cordoned, which leaves as little at once.
  rehearse_nodes(
      node("n3", "01:40", false) + node("n3", "02:00", true) + node("n2", "02:20", true, true),
      log);
  const WhatIf result = asked(log, under({"debounce.shrinkWindow=30s"}));
  INFO(what_if_text(result));
  CHECK(result.same == 2);  // our finalizer on the claim, and the first list
  REQUIRE(result.differences.size() == 1);
  const WriteDifference& difference = result.differences[0];
  CHECK(difference.kind() == WriteDiffers::time);
  CHECK(difference.baseline->time == at(1, 55));
  CHECK(difference.counterfactual->time == at(2, 20));
  const Json row = to_json(result)["differences"][0];
  CHECK(row["difference"] == "time");
  CHECK(row["history"]["time"] == "1970-01-01T00:01:55Z");
  CHECK(row["history"]["writtenTime"] == "1970-01-01T00:01:55Z");
  CHECK(row["history"]["seq"] == difference.made->seq.value);
  CHECK(row["whatIf"]["time"] == "1970-01-01T00:02:20Z");
  CHECK(what_if_text(result).find("the same at 00:02:20Z") != std::string::npos);
}

TEST_CASE("up to a time every deadline until then runs, up to an event none behind it") {
  MemoryLog log;
  rehearse_node_back(log);
  WhatIfOptions options = under({"debounce.growWindow=1m"});
  options.to = *log.last_at(at(7, 30));
  REQUIRE(asked(log, options).last_time == at(3));
  CHECK(asked(log, options).differences.empty());
  options.to_time = at(3, 59);
  CHECK(asked(log, options).differences.empty());
  for (const LogTime end : {at(4), at(7, 30)}) {
    options.to_time = end;
    const WhatIf result = asked(log, options);
    INFO(what_if_text(result));
    CHECK(result.last_time == end);
    REQUIRE(result.differences.size() == 1);
    CHECK(result.differences[0].kind() == WriteDiffers::only_what_if);
    CHECK(result.differences[0].time() == at(4));
    // 4 cpu that are wanted and not promised, from 3:00 on; the window ends at 4:00.
    const Int128 wanted = Int128{4000} * (end - at(3)).ns;
    CHECK(result.baseline.under.at("cpu") - result.counterfactual.under.at("cpu") ==
          wanted - Int128{4000} * minutes(1).ns);
  }
  options.to_time = at(8);
  options.to = *log.last_at(*options.to_time);
  const WhatIf later = asked(log, options);
  REQUIRE(later.differences.size() == 1);
  CHECK(later.differences[0].kind() == WriteDiffers::time);
  CHECK(later.differences[0].counterfactual->time == at(4));
}

TEST_CASE("a span between two events is reported, though nothing is in it but deadlines") {
  MemoryLog log;
  rehearse_node_back(log);
  WhatIfOptions options = under({"debounce.growWindow=1m"});
  options.to = *log.last_at(at(7, 30));
  options.from = next(*options.to);
  options.from_time = at(3, 30);
  options.to_time = at(7, 30);
  const WhatIf result = asked(log, options);
  INFO(what_if_text(result));
  CHECK(result.first_time == at(3, 30));
  CHECK(result.last_time == at(7, 30));
  REQUIRE(result.differences.size() == 1);
  CHECK(result.differences[0].time() == at(4));
  CHECK(what_if_text(result).starts_with(
      "from 1970-01-01T00:03:30Z to 1970-01-01T00:07:30Z (no event; the last before is seq " +
      std::to_string(options.to->value) + "): 0 writes are the same, 1 differs\n"));
  // 4 cpu for four minutes, or for half of one, in thousandths of an hour.
  const Json totals = to_json(result)["totals"];
  CHECK(totals["sameConfiguration"]["underQuotaResourceHours"]["cpu"] == "266m");
  CHECK(totals["whatIf"]["underQuotaResourceHours"]["cpu"] == "33m");
  CHECK(result.history.under == result.baseline.under);

  WhatIfOptions turned = options;
  turned.from_time = at(7, 31);
  WhatIfOptions exact = options;
  exact.to_time.reset();
  for (const WhatIfOptions& none : {turned, exact}) {
    const auto refused = what_if({log, nullptr}, none);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::bad_input);
  }
}

TEST_CASE("behind the log's end deadlines run on as if nothing else happened") {
  MemoryLog log;
  rehearse_node_back(log);
  REQUIRE(log.last_time() < at(183));
  WhatIfOptions options = under({"debounce.growWindow=3h"});
  const WhatIf cut = asked(log, options);
  REQUIRE(cut.differences.size() == 1);
  CHECK(cut.differences[0].kind() == WriteDiffers::only_history);
  options.to_time = at(200);
  const WhatIf result = asked(log, options);
  REQUIRE(result.differences.size() == 1);
  CHECK(result.differences[0].kind() == WriteDiffers::time);
  CHECK(result.differences[0].counterfactual->time == at(183));
  CHECK(result.last_time == at(200));
}

}  // namespace
}  // namespace fairlead
