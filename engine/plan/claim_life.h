// The life of a claim: made for a cluster that joins, held by our finalizer, released when nothing
// is left of it.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/cluster_queue.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// Creates `<cluster>-resource-claim` once something of a joined cluster without a claim is
/// accepted above zero: its nominalResources.
Proposed emit_new_claim(const State& state, const std::string& cluster);
/// Adds to a nominal list that we wrote, and that nobody has changed, the resources that it does
/// not name and of which the cluster offers something by now. What it names is left as it is:
/// shares of `TrackCapacity` are shares of that.
Proposed emit_grown_nominal(const State& state, const std::string& cluster);
/// Our finalizer holds the claim.
bool has_finalizer(const Claim& claim);
/// Adds our finalizer to a live claim, or releases it from a deleted one whose quota is gone
/// everywhere.
Proposed emit_finalizer(const State& state, const std::string& claim, QueueWishes& wishes);

}  // namespace fairlead
