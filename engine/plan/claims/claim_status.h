// The status of a claim: what its cluster offers, what each assignment is granted and why not more.
#pragma once

#include <string>

#include "engine/plan/emit.h"
#include "engine/plan/queues/cluster_queue.h"

namespace fairlead {

/// Returns the reason in the claim's status for a row that is not emitted, or not granted in full.
GrantReason grant_reason(const State& state, const Claim& claim, const Grant& grant,
                         QueueWishes& wishes);
/// Returns the state of a capacity value in the claim's status: Detached, Lost, Unknown, Held,
/// Stale, Shrinking, Growing or Accepted.
std::string capacity_state(const Cluster& cluster, const DampedValue& value);

/// Whether the status is written if nothing of it but accepted values changed. It is not, where
/// they have moved lately: most moves of a flapping node end here, without a status being derived.
bool status_numbers_are_due(const State& state, const std::string& claim, QueueWishes& wishes);
/// Returns the apply of the status if an accepted value, a grant, a condition's status or reason,
/// or `overcommitted` changed since the last one, the spec was edited, or another writer's status
/// is due to be replaced. Accepted values alone wait until they hold still.
Proposed emit_claim_status(const State& state, const std::string& claim, QueueWishes& wishes);

}  // namespace fairlead
