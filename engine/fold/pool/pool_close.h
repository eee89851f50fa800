// Closes a moment of the super cluster pool: tenants, placements, pods, reasons.
#pragma once

#include "engine/fold/dirty_set.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Decides what follows from everything that happened at State::now. Called after the members'
/// moments have closed. Called again in the same moment, it decides only what is marked since.
void recompute_pool(PoolRoom state, DirtySet& dirty);

}  // namespace fairlead
