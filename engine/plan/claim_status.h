// The status of a claim: what its cluster offers, what each assignment was granted and why not
// more.
#pragma once

#include <string>

#include "engine/plan/cluster_queue.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// Why a row is not emitted, or not granted in full, as the claim's status says it; empty if it is.
std::string grant_reason(const State& state, const Claim& claim, const Grant& grant,
                         QueueWishes& wishes);
/// What is the matter with a capacity value, as the claim's status says it: Detached, Lost,
/// Unknown, Held, Stale, Shrinking, Growing, Accepted.
std::string capacity_state(const Cluster& cluster, const DampedValue& value);

/// The apply of status, if an accepted value, a grant, a condition's status or reason, or
/// `overcommitted` changed since the last one, or the spec was edited.
Proposed emit_claim_status(const State& state, const std::string& claim, QueueWishes& wishes);

}  // namespace fairlead
