// Which super cluster runs a tenant's pod: one of those that its namespace's placements list.
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/fold/pool/reasons.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Finds out whether the pod waits for a cluster, and since when.
void update_waiting_pod(State& state, const PoolPodKey& key);

/// Why pods found no place at their last look in the open moment.
using PodRefusals = std::map<PoolPodKey, ReasonText>;
/// Places the waiting pods of these namespaces, those that wait longest first, and notes what those
/// lack that find no place. Returns whether one was placed.
bool place_pods(State& state, const std::set<PoolNamespaceKey>& namespaces, DirtySet& dirty,
                PodRefusals& refusals);
/// Sets the reasons of pods that found no place, when no pod is placed any more.
void set_refusals(State& state, const PodRefusals& refusals, DirtySet& dirty);

/// PodFit::lacking where the cluster has enough of everything, but no node that could hold the pod
/// alone. No resource has this name.
inline constexpr const char* kNoNodeHolds = "node";
/// What a pod finds at a super cluster. Its own requests do not count, also where it is there.
struct PodFit {
  CpuMemorySum left;                   ///< of its namespace's slices
  std::map<std::string, Int128> free;  ///< of the cluster: cpu, memory and all that it asks for
  /// The first resource that is not enough, or kNoNodeHolds; empty: it fits.
  std::string lacking;
};
/// Returns what the pod, which State has, finds at `id`, whatever the cluster's standing.
PodFit fit_of_pod(const State& state, const PoolPodKey& key, const std::string& id);

}  // namespace fairlead
