#include "engine/runtime/queue_counts.h"

#include "schema/wait_reason.h"

namespace fairlead {

namespace {

// The queue that gave quota, else the one that the LocalQueue leads to.
std::string queue_of(const QueueTables& queues, const std::string& space,
                     const WorkloadProgress& progress) {
  if (!progress.cluster_queue.empty()) return progress.cluster_queue;
  const auto local = queues.local.find({space, progress.queue});
  return local == queues.local.end() ? "" : local->second.cluster_queue;
}

}  // namespace

QueueCounts count_queues(QueueCountReader state) {
  QueueCounts counts;
  for (const auto& [id, record] : state.multikueue.workloads) {
    const auto seen = record.seen.read();
    const WorkloadFacts& workload = seen->facts;
    if (!workload.progress || wait_state_of(workload) != WaitState::waiting) continue;
    ++counts.waiting[{queue_of(state.queues, id.first, *workload.progress),
                      std::string(text_of(wait_reason_of(workload).of))}];
  }
  for (const auto& [name, claim] : state.claims.by_name) {
    if (!claim.winner) continue;
    for (const Grant& grant : claim.grants)
      counts.short_rows[grant.row.cluster_queue] += grant.granted < grant.row.assigned ? 1 : 0;
  }
  return counts;
}

}  // namespace fairlead
