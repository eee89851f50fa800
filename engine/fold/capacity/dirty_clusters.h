// Marks clusters, which are recomputed when the present moment closes. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Marks the cluster, which is recomputed when the present moment closes, and returns it. Creates a
/// new one.
Cluster& mark_cluster_dirty(ClusterMarks state, const std::string& name);

/// Marks the cluster for a change of what its nodes offer, or for a deadline of the windows. If
/// nothing else happens in that moment and no accepted value moves, the cluster's writes stay as
/// they are.
Cluster& mark_capacity_dirty(ClusterMarks state, const std::string& name);

}  // namespace fairlead
