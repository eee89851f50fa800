// Closes a moment of the super cluster pool: tenants, placements, pods, reasons.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Decides what follows from everything that happened at State::now. Called after the members'
/// moments have closed. Called again in the same moment, it decides only what is marked since.
void recompute_pool(State& state, DirtySet& dirty);

}  // namespace fairlead
