// Which super cluster runs a tenant's pod: one that its namespace's placements list.
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/fold/dirty_set.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/reasons.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Finds out whether the pod waits for a cluster, and since when.
void update_waiting_pod(PoolRoom state, const PoolPodKey& key);

/// Why pods found no place at their last look in the open moment.
using PodRefusals = std::map<PoolPodKey, ReasonText>;
/// Places the waiting pods of these namespaces, the longest waiting first, and notes in `refusals`
/// why the others found no place. Returns whether a pod was placed.
bool place_pods(PoolRoom state, const std::set<PoolNamespaceKey>& namespaces, DirtySet& dirty,
                PodRefusals& refusals);
/// Sets the reasons of pods that found no place. Called once no more pods are placed in the moment.
void set_refusals(PoolRoom state, const PodRefusals& refusals, DirtySet& dirty);

/// PodFit::lacking where the cluster has enough of everything, but no node that could hold the pod
/// alone. No resource has this name.
inline constexpr const char* kNoNodeHolds = "node";
/// What a pod finds at a super cluster. Its own requests do not count, even if it is there already.
struct PodFit {
  CpuMemorySum left;  ///< what other pods leave of its namespace's slices
  std::map<std::string, Int128>
      free;  ///< what is free in the cluster: cpu, memory and what the pod asks for
  /// The first resource that is not enough, or kNoNodeHolds; empty: it fits.
  std::string lacking;
};
/// Returns what the pod, which must be in State, finds at `id`, whatever the cluster's standing.
PodFit fit_of_pod(PoolReader state, const PoolPodKey& key, const std::string& id);

}  // namespace fairlead
