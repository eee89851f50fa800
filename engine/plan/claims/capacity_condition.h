// Condition CapacityKnown of a claim: whether a source reports what its cluster has.
#pragma once

#include <string>

#include "engine/fold/cluster_state.h"
#include "engine/plan/claims/claim_status_text.h"

namespace fairlead {

/// `cluster` is null if no source has reported it.
ClaimCondition capacity_known(const Configuration& configuration, const std::string& cluster_name,
                              const Cluster* cluster);

}  // namespace fairlead
