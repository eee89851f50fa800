// Copies of State for readers that need little of it. Nearly all of a large State is nodes.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// Returns how many objects a copy with the nodes of `clusters` has, of those kinds of which there
/// may be thousands. Takes microseconds for hundreds of clusters.
std::size_t objects_in_copy(const State& state, const std::set<std::string>& clusters);

/// Returns a copy of `state` in which the other clusters have no nodes: nothing that derives a
/// capacity may be done with it. `state` is afterwards as before.
State copy_with_nodes_of(State& state, const std::set<std::string>& clusters);

}  // namespace fairlead
