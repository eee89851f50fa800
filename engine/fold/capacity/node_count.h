// Adds the nodes of a cluster to the sums of its capacity, and takes them out. Internal to the
// fold.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/node_flavors.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Adds, or subtracts.
enum class Sign : std::uint8_t { minus, plus };

/// Adds a node to the sums of the flavors that it is eligible for and of the pool, or subtracts it.
/// `cause` is the event behind it; Seq{} is none.
void add_eligible(NodeReader state, Cluster& cluster, const NodeRecord& node, Sign sign, Seq cause);
/// Counts a node: finds the flavors that win it first.
void count_node(NodeReader state, Cluster& cluster, NodeRecord& node, Seq cause);
/// Counts a node again by the flavors of its kind: nothing changed that decides which of them win.
/// The caller has subtracted it, and calls leave_kind() with what it was counted as.
void count_for_flavors(NodeReader state, Cluster& cluster, NodeRecord& node, Seq cause);
/// Ends that a node which was subtracted is one of its kind.
void leave_kind(Cluster& cluster, const CountedNode& counted);
/// Takes a node out that was counted.
void uncount_node(NodeReader state, Cluster& cluster, const NodeRecord& node, Seq cause);

}  // namespace fairlead
