// The rounds of a moment: releases, overflow and decisions about namespaces, until none changes
// anything.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Runs rounds over Pool::dirty_namespaces, overflowing clusters and the namespaces that want a
/// decision.
void run_pool_rounds(State& state);

/// Adopts the placements in a tenant's first list unchanged, but within the tenant's limit.
void adopt_placements(State& state, const PoolNamespaceKey& key, const SliceMap& slices);

}  // namespace fairlead
