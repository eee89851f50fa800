#include "engine/fold/usage/queue_use.h"
#include "replay/usage/usage_meter.h"

namespace fairlead {

namespace {

bool is_true(const WorkloadProgress& progress, std::string_view type) {
  for (const WorkloadCondition& condition : progress.conditions)
    if (condition.type == type) return condition.status == ConditionStatus::yes;
  return false;
}

// Of `count` pods alike, those that still need their part of the usage.
Int128 less_reclaimable(Int128 usage, const AssignedPodSet& pods) {
  if (pods.count <= 0) return usage;
  const std::int64_t left = std::max<std::int64_t>(pods.count - pods.reclaimable, 0);
  return usage * left / pods.count;
}

}  // namespace

// An eviction alone frees nothing: Kueue holds the quota until the job has stopped, and takes
// Admitted and QuotaReserved back then.
std::optional<UsageWorkload> usage_workload(const NamespacedName& id, const WorkloadFacts& facts) {
  if (!facts.progress || facts.finished) return std::nullopt;
  const WorkloadProgress& progress = *facts.progress;
  const bool admitted = is_true(progress, "Admitted");
  if (!admitted && !facts.quota_reserved) return std::nullopt;
  UsageWorkload workload;
  if (!progress.owner_kind.empty())
    workload.owner = id.first + "/" + progress.owner_kind + "/" + progress.owner_name;
  workload.labels = progress.labels;
  workload.queue = progress.cluster_queue;
  workload.admitted = admitted;
  for (const AssignedPodSet& pods : progress.assigned)
    for (const FlavorUsage& usage : pods.usage)
      workload.amounts[{usage.flavor, usage.resource}] +=
          less_reclaimable(milli_units(usage.resource, usage.total), pods);
  return workload;
}

}  // namespace fairlead
