// What the table of a Workload says of Kueue's own words.
#include <catch2/catch.hpp>

#include "tests/unit/replay/waiting/wait_log.h"

namespace fairlead {
namespace {

using namespace waiting;

// The table about a Workload of 8 gpus for which Kueue wrote `message`, with `nominal` of them.
std::string table_with(const std::string& message, std::int64_t nominal) {
  WaitLog log;
  log.queue(1, queue_of({group_of("a100", "gpu", nominal)}));
  log.local_queue(1);
  WorkloadCondition condition = pending("Pending");
  condition.message = message;
  log.workload(10, job(10, 8, {condition}));
  log.append(20, kHub, SourceSynced{Kind::node, "", ""});
  const auto answer =
      audit_waiting({log.log, nullptr},
                    {NamespacedName{"team", "job"}, "", AuditPosition(log.log.last_seq()), {}, {}});
  REQUIRE(answer.has_value());
  return waiting_text(answer->document, 200);
}

// The texts are those of Kueue 0.19.2 without its gate UnadmittedWorkloadsObservability.
TEST_CASE("where all fits, Kueue's message is told if it is about more than amounts") {
  const std::string taint =
      "couldn't assign flavors to pod set main: untolerated taint {spot true NoSchedule <nil>} "
      "in flavor a100";
  const std::string amount = "insufficient unused quota for gpu in flavor b200, 4 more needed";
  const std::string domain = "workload namespace doesn't match ClusterQueue selector";
  CHECK(table_with(taint, 8).find("Kueue: couldn't assign flavors") != std::string::npos);
  CHECK(table_with(taint + ", " + amount, 8).find("Kueue: ") != std::string::npos);
  CHECK(table_with(domain, 8).find("Kueue: " + domain) != std::string::npos);
  // An amount of before, and amounts that our own sums have.
  CHECK(table_with(amount, 8).find("Kueue: ") == std::string::npos);
  CHECK(table_with(domain, 4).find("Kueue: ") == std::string::npos);
}

}  // namespace
}  // namespace fairlead
