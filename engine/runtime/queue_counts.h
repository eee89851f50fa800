// The hub's ClusterQueues in numbers, for metrics: who waits in them, and what claims lack there.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "engine/base/time.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/state_view.h"

namespace fairlead {

struct QueueCounts {
  /// (ClusterQueue, class of schema/wait_reason.h) -> Workloads that wait. ClusterQueue "": not
  /// known.
  std::map<std::pair<std::string, std::string>, std::size_t> waiting;
  /// ClusterQueue -> rows of claims in force that are granted less than they assign. Of each queue
  /// that such a claim names, also 0.
  std::map<std::string, std::size_t> short_rows;
};

struct QueueCountReader : StateView<const MultiKueue, const QueueTables, const ClaimTables> {
  using StateView::StateView;
};
/// How often they are counted at most: 200,000 Workloads take the hub's thread some 20 ms.
inline constexpr Duration kQueueCountsInterval = seconds(10);

/// Walks all Workloads of the hub and all claims.
QueueCounts count_queues(QueueCountReader state);

}  // namespace fairlead
