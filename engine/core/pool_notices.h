// Notices of the super cluster pool: what a tenant sees in `kubectl describe` of its Namespaces and
// Pods, and the hub's administrator on the VirtualCluster.
#pragma once

#include <vector>

#include "engine/core/notice.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Returns the notices of a write, once it is accepted, to a tenant's Namespace or Pod:
/// `Scheduled`, `FailedScheduling`, `PlacementRejected` there, and `PoolExhausted` on the tenant's
/// VirtualCluster. Other writes have none.
std::vector<Notice> pool_notices_of(const State& state, const PatchIntended& write, Seq seq,
                                    LogTime time);

}  // namespace fairlead
