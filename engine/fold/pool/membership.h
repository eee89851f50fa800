// Whether the pool decides about a namespace or a pod, and whether the object differs from what was
// decided.
#pragma once

#include <optional>
#include <string>

#include "engine/fold/pool/pool_state.h"

namespace fairlead {

/// Whether decisions are made for the namespace: its tenant is connected, it exists and is not
/// being deleted.
bool takes_part(const PoolTenant& tenant, const PoolNamespace& of);
/// Whether it is in the pool: a quota without scopes names cpu or memory.
bool is_in_pool(const Configuration& configuration, const PoolNamespace& of);
/// Whether its Namespace object is to be written: it differs from what was decided.
bool namespace_differs(const Configuration& configuration, const PoolNamespace& of);
/// Likewise for a pod. A pod that is bound, over or being deleted is not written.
bool pod_differs(const PoolPod& pod);
/// Returns what superCluster should be: as decided, or as observed.
std::optional<std::string> super_cluster_of(const PoolPod& pod);

}  // namespace fairlead
