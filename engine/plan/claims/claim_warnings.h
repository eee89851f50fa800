// What a claim asks for that cannot be had now, though its spec is valid.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/state_view.h"

namespace fairlead {

/// Returns the warnings of the claim for condition Valid, sorted: objects that it names and the hub
/// lacks, resources of which it promises more than `cluster` has, and that the API server refuses
/// our write of the claim's own object. `cluster` may be null.
std::vector<std::string> claim_warnings(
    StateView<const FlavorTables, const ClaimTables, const QueueTables, const WriteTables> state,
    const std::string& name, const Cluster* cluster);

/// Names the claim's pairs that are left to another writer, such as "spot cpu of ClusterQueue q";
/// empty if there are none. It has no amounts: what other claims grant would change them.
std::string contested_pairs(const QueueTables& queues, const Claim& claim);

}  // namespace fairlead
