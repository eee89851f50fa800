// The rounds of a moment: releases, overflow and decisions about namespaces, until none changes
// anything.
#pragma once

#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Runs rounds over Pool::dirty_namespaces, overflowing clusters and the namespaces that want a
/// decision.
void run_pool_rounds(PoolRoom state);

/// Adopts the placements in a tenant's first list unchanged, but within the tenant's limit.
void adopt_placements(PoolRoom state, const PoolNamespaceKey& key, const SliceMap& slices);

}  // namespace fairlead
