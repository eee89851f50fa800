// Closes a moment of the super cluster pool: tenants, placements, pods, reasons.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Decides what follows from all that happened at State::now. Called after the members' own
/// moments; decides nothing twice.
void recompute_pool(State& state, DirtySet& dirty);

}  // namespace fairlead
