// What is alike of all reservations of devices, whether a Workload has them or a tenant's pod.
// Internal to the fold.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/devices/search_index.h"

namespace fairlead {

/// Whether `reserved` is what `claim`, which was made for a pod that asks as `pod`, allocates: the
/// entry of that name, or any extended resource that is met by devices, for all of which a
/// scheduler makes one claim.
bool is_of(const PodDeviceFacts& pod, const FitClaim& reserved, const ResourceClaimFacts& claim);

/// Whether the open moment changed the pool of a reserved device, or a node of the pods.
bool touches(const DeviceChanges& changes, const std::vector<FitPod>& pods);

/// Returns `pods` while each can still take just what it has; else the first solution of the
/// question; nullopt if there is none. `index` must not have the reservation itself. A device that
/// a claim of `own` uses is not lost to the pods: that is how they get it.
std::optional<std::vector<FitPod>> solve_again(const Cluster& cluster, SearchIndex& index,
                                               const FitQuestion& question,
                                               const std::vector<FitPod>& pods,
                                               const std::set<NamespacedName>& own);

}  // namespace fairlead
