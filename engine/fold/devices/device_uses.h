// Which devices of a cluster are in use, by the allocations of its ResourceClaims. Internal to the
// fold.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Whether an allocation of a ResourceClaim names the device. One with adminAccess is no use.
bool is_used(const Cluster& cluster, const DeviceId& device);

/// Counts the allocations of a claim in the index (`sign` 1), or takes them out (-1). Adds the
/// pools with a device that is used now and was not, or the other way round, to `pools`.
void count_uses(DeviceIndex& index, const ResourceClaimFacts& claim, int sign,
                std::set<DevicePoolKey>& pools);

}  // namespace fairlead
