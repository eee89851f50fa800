// The flavors by which a node of a cluster is counted.
#pragma once

#include <string_view>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns the flavors of a counted node, by candidate set; empty if it counts nowhere.
const std::vector<NodeFlavor>& flavors_of(const Cluster& cluster, const NodeRecord& node);

/// Returns the one for a resource.
const NodeFlavor& flavor_for(StateView<const FlavorTables> state, const Cluster& cluster,
                             const NodeRecord& node, std::string_view resource);

}  // namespace fairlead
