// What a claim asks for that cannot be had now, though its spec is valid.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// Returns the warnings of the claim for condition Valid, sorted: objects that it names and the hub
/// lacks, and resources of which it promises more than `cluster` has. `cluster` may be null.
std::vector<std::string> claim_warnings(const State& state, const Claim& claim,
                                        const Cluster* cluster);

}  // namespace fairlead
