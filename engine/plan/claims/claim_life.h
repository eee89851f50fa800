// The life of a claim: it is created for a cluster that joins, kept by our finalizer, and released
// when nothing of its quota is left.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/emit.h"
#include "engine/plan/queues/cluster_queue.h"

namespace fairlead {

/// Creates `<cluster>-resource-claim` once a joined cluster that never had a claim has accepted
/// values above zero, which become its nominalResources.
Proposed emit_new_claim(const State& state, const std::string& cluster);
/// Adds to a nominal list that we wrote, and that no other writer has changed, the resources that
/// it does not name and that the cluster offers by now. Amounts in the list stay, because they are
/// the base of the shares of `TrackCapacity`.
Proposed emit_grown_nominal(const State& state, const std::string& cluster);
/// Whether the claim has our finalizer.
bool has_finalizer(const Claim& claim);
/// Adds our finalizer to a live claim, or removes it from a deleted one whose quota is gone
/// everywhere.
Proposed emit_finalizer(const State& state, const std::string& claim, QueueWishes& wishes);

}  // namespace fairlead
