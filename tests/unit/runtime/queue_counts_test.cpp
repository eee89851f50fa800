#include "engine/runtime/queue_counts.h"

#include <catch2/catch.hpp>

using namespace fairlead;

namespace {

struct Parts {
  MultiKueue multikueue;
  QueueTables queues;
  ClaimTables claims;

  WorkloadProgress& add(const std::string& name) {
    WorkloadFacts& facts = multikueue.workloads[{"team", name}].seen.facts;
    facts.progress.emplace();
    facts.progress->queue = "jobs";
    return *facts.progress;
  }
};

WorkloadCondition unreserved(const char* reason) {
  return {"QuotaReserved", ConditionStatus::no, reason, ""};
}

}  // namespace

TEST_CASE("Workloads that wait are counted by queue and by what they wait for") {
  Parts parts;
  parts.queues.local[{"team", "jobs"}].cluster_queue = "training";
  parts.add("a").conditions = {unreserved("WaitingForQuota")};
  parts.add("b").conditions = {unreserved("Pending")};
  parts.add("c").deactivated = true;
  parts.add("nowhere").queue = "other";
  parts.add("runs").conditions = {{"Admitted", ConditionStatus::yes, "Admitted", ""}};
  parts.multikueue.workloads[{"team", "runs"}].seen.facts.quota_reserved = true;
  parts.add("done");
  parts.multikueue.workloads[{"team", "done"}].seen.facts.finished = true;
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
