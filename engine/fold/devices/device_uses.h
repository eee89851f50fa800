// Which devices of a cluster are in use, by the allocations of its ResourceClaims. Internal to the
// fold.
#pragma once

#include "engine/fold/cluster_state.h"

namespace fairlead {

/// Whether an allocation of a ResourceClaim names the device. An allocation with adminAccess does
/// not count.
bool is_used(const Cluster& cluster, const DeviceId& device);

/// Counts the allocations of a claim in the index (`sign` 1), or takes them out (-1). Adds the
/// devices that are used now and were not, or the other way round, to `changed`.
void count_uses(DeviceIndex& index, const ResourceClaimFacts& claim, int sign,
                std::set<DeviceId>& changed);

}  // namespace fairlead
