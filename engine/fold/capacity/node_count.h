// Adds the nodes of a cluster to the sums of its capacity, and takes them out. Internal to the
// fold.
#pragma once

#include <cstdint>

#include "engine/fold/state.h"

namespace fairlead {

/// Adds, or subtracts.
enum class Sign : std::uint8_t { minus, plus };

/// Adds an eligible node to the sums of its flavor and of the pool, or subtracts it. `cause` is the
/// event behind it; Seq{} is none.
void add_eligible(const State& state, Cluster& cluster, const NodeRecord& node, Sign sign,
                  Seq cause);
/// Counts a node whose winning flavor is already set.
void count_for_flavor(const State& state, Cluster& cluster, NodeRecord& node, Seq cause);
/// Counts a node: finds the flavor that wins it first.
void count_node(const State& state, Cluster& cluster, NodeRecord& node, Seq cause);
/// Takes a node out that was counted.
void uncount_node(const State& state, Cluster& cluster, const NodeRecord& node, Seq cause);

}  // namespace fairlead
