// What the hub keeps of pairs that were taken over while they were in use (queues/take_over.h), and
// what a member may have of a pair with that. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns what the member is known to admit of the pair.
Amount confirmed_amount(const Cluster& cluster, const MemberPair& pair);
/// Returns what the cluster may have of the pair on the hub: what its member is known to admit or,
/// if that is more, what is kept.
Amount admitted(const Cluster& cluster, const MemberPair& pair);

/// Returns what is kept of the pair; 0 if nothing.
Amount kept_of(const Cluster& cluster, const MemberPair& pair);

/// Ends what is kept of pairs of the queue of which the member has confirmed as much.
void drop_confirmed(Cluster& cluster, const std::string& queue);

/// Lowers what is kept for a cluster to its present grants.
void bound_taken_over(StateView<Clusters, const ClaimTables> state, const std::string& cluster);

}  // namespace fairlead
