// The status of a claim: what its cluster offers, what each assignment was granted and why not
// more.
#pragma once

#include <string>

#include "engine/plan/cluster_queue.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// The apply of status, if an accepted value, a grant, a condition's status or reason, or
/// `overcommitted` changed since the last one, or the spec was edited.
Proposed emit_claim_status(const State& state, const std::string& claim, QueueWishes& wishes);

}  // namespace fairlead
