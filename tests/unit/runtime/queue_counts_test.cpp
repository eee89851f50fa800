#include "engine/runtime/queue_counts.h"

#include <catch2/catch.hpp>
#include <utility>

#include "tests/support/edit_workload.h"

using namespace fairlead;

namespace {

struct Parts {
  MultiKueue multikueue;
  QueueTables queues;
  ClaimTables claims;

  void add(const std::string& name, WorkloadProgress progress = {}) {
    progress.queue = "jobs";
    seen(name)->facts.progress = std::move(progress);
  }
  WorkloadEdit seen(const std::string& name) {
    return edit(multikueue.workloads[{"team", name}].seen);
  }
};

WorkloadProgress with(WorkloadCondition condition) {
  WorkloadProgress progress;
  progress.conditions = {std::move(condition)};
  return progress;
}
WorkloadProgress unreserved(const char* reason) {
  return with({"QuotaReserved", ConditionStatus::no, reason, ""});
}

}  // namespace

TEST_CASE("Workloads that wait are counted by queue and by what they wait for") {
  Parts parts;
  parts.queues.local[{"team", "jobs"}].cluster_queue = "training";
  parts.add("a", unreserved("WaitingForQuota"));
  parts.add("b", unreserved("Pending"));
  parts.add("c");
  parts.seen("c")->facts.progress->deactivated = true;
  parts.add("nowhere");
  parts.seen("nowhere")->facts.progress->queue = "other";
  parts.add("runs", with({"Admitted", ConditionStatus::yes, "Admitted", ""}));
  parts.seen("runs")->facts.quota_reserved = true;
  parts.add("done");
  parts.seen("done")->facts.finished = true;
  parts.multikueue.workloads[{"team", "old"}];  // a record that does not say how far it is
  const QueueCounts counts = count_queues(QueueCountReader(parts));
  CHECK(counts.waiting ==
        std::map<std::pair<std::string, std::string>, std::size_t>{
            {{"", "queue"}, 1}, {{"training", "hold"}, 1}, {{"training", "quota"}, 2}});
}

TEST_CASE("rows that are granted less than they assign are counted, of claims in force alone") {
  Parts parts;
  Claim& claim = parts.claims.by_name["claim"];
  claim.grants = {{{"training", "gpu", "nvidia.com/gpu", "gpu", 48, 0, 0}, 40, {}},
                  {{"training", "gpu", "cpu", "cpu", 8, 0, 0}, 8, {}},
                  {{"serving", "gpu", "cpu", "cpu", 8, 0, 0}, 8, {}}};
  CHECK(count_queues(QueueCountReader(parts)).short_rows.empty());
  claim.winner = true;
  CHECK(count_queues(QueueCountReader(parts)).short_rows ==
        std::map<std::string, std::size_t>{{"serving", 0}, {"training", 1}});
}
