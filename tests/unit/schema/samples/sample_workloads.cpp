#include "tests/unit/schema/samples/sample_workloads.h"

namespace fairlead::samples {

WorkloadFacts workload() {
  WorkloadFacts facts;
  facts.checks = {{"fleet", "Ready"}, {"gpu", "Pending"}};
  facts.cluster_name = "gpu-cluster1";
  facts.nominated_clusters = {"gpu-cluster2", "gpu-cluster1"};
  facts.quota_reserved = true;
  facts.finished = true;
  facts.evicted = true;
  facts.deleting = true;
  return facts;
}

WorkloadProgress workload_progress() {
  WorkloadProgress progress;
  progress.queue = "team-a";
  progress.deactivated = true;
  progress.requests = {{"cpu", 44000}, {"nvidia.com/gpu", 8}};
  progress.conditions = {{"QuotaReserved", ConditionStatus::no, "Pending",
                          "couldn't assign flavors to pod set main: insufficient unused quota for "
                          "cpu in flavor a, 4 more needed"},
                         {"Evicted", ConditionStatus::yes, "Preempted", ""}};
  progress.quota_since = LogTime{1'767'225'600'000'000'000};
  progress.finished_at = LogTime{1'767'225'601'000'000'000};
  progress.cluster_queue = "queue-a";
  progress.assigned = {{"main", 4, 1, {{"default-flavor", "cpu", 44000}}}};
  progress.requeues = 2;
  progress.requeue_at = LogTime{1'767'225'602'000'000'000};
  progress.owner_kind = "Job";
  progress.owner_name = "train";
  progress.labels = {{"team", "vision"}};
  progress.origin = "multikueue";
  return progress;
}

Configuration configuration_of_workloads() {
  Configuration configuration;
  configuration.workloads = {MemberWorkloads::yes, 1000, minutes(5)};
  configuration.usage = {seconds(30),
                         {"team", "cost-centre"},
                         {{"a100", "nvidia.com/gpu", "2.50", "EUR"}},
                         UsageAllocation::used_hours};
  return configuration;
}

}  // namespace fairlead::samples
