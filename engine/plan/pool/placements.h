// The writes to tenants: placements of their namespaces, clusters of their pods, and why something
// is missing.
#pragma once

#include "engine/plan/emit.h"

namespace fairlead {

/// Returns the write of a tenant's Namespace; nothing if the observed placements are
/// those that were decided, or if it may not be written now.
Proposed emit_tenant_namespace(const State& state, const PoolNamespaceKey& key);
/// Likewise of a tenant's Pod.
Proposed emit_tenant_pod(const State& state, const PoolPodKey& key);

}  // namespace fairlead
