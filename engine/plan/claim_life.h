// The life of a claim: made for a cluster that joins, held by our finalizer, released when nothing
// is left of it.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/cluster_queue.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// Creates `<cluster>-resource-claim` once a joined cluster without a claim has its first accepted
/// value.
Proposed emit_new_claim(const State& state, const std::string& cluster);
/// Our finalizer holds the claim.
bool has_finalizer(const Claim& claim);
/// Adds our finalizer to a live claim, or releases it from a deleted one whose quota is gone
/// everywhere.
Proposed emit_finalizer(const State& state, const std::string& claim, QueueWishes& wishes);

}  // namespace fairlead
