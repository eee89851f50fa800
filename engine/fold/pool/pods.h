// Which super cluster runs a tenant's pod: one of those that its namespace's placements list.
#pragma once

#include <set>

#include "engine/fold/state.h"

namespace fairlead {

/// Finds out whether the pod waits for a cluster, and since when.
void judge_pod(State& state, const PoolPodKey& key);

/// Places the waiting pods of these namespaces, those that wait longest first, and sets the reasons
/// of those that find no place. Returns whether one was placed.
bool place_pods(State& state, const std::set<PoolNamespaceKey>& namespaces, DirtySet& dirty);

}  // namespace fairlead
