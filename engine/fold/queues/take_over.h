// Pairs that become ours while their quota is in use on the hub: what the hub keeps of it until the
// members confirm what they are granted. Internal to the fold.
//
// Else taking over a queue would lower it to what no member has confirmed yet, to 0, and for as
// long as an agent does not report. What is kept is a part of a cluster
// (ClusterMember::taken_over): no more than was found and no more than is granted, and it only ever
// falls.
#pragma once

#include <set>
#include <string>

#include "engine/fold/queues/queue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Folds that a pair with the quota `found` on the hub is not ours yet: the clusters whose claims
/// name it keep what was found, up to their grants. A watched member that has quota of the pair
/// already, without a work of ours, admits as much.
void take_over(QueueRoom state, const std::string& queue, const QuotaKey& pair, Amount found);
/// Likewise for our pairs that are fed by clusters which got a member (by a ManagedCluster or by
/// members.mode): until now their grants counted without confirmation. Notes which of `clusters`
/// have one.
void take_over_for_new_members(QueueRoom state, const std::set<std::string>& clusters);

}  // namespace fairlead
