// Why a capacity is less than it was, or is zero, in words for a person.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns why a node that `counted` says how it counts for the pair's resource does not count for
/// its flavor; empty if it does.
std::vector<std::string> reasons_against(const FlavorTables& flavors, const NodeFacts& node,
                                         const NodeFlavor& counted, const CapacityKey& pair);

/// Returns "0 of 6 nodes count: taint a=b:NoSchedule (4), NotReady (2)" where no node of the source
/// in force counts for the pair; empty where one does, or where the source reports no nodes. Looks
/// at every node only where nothing is offered.
std::string why_no_node_counts(StateView<const FlavorTables> state, const Cluster& cluster,
                               const CapacityKey& pair);

/// Returns "cpu 900 to 0, memory 2Ti to 0": what was usable before the loss that the cluster holds,
/// and what is usable now.
std::string held_losses(const Cluster& cluster);

}  // namespace fairlead
