// State, derived anew: what the fold keeps step by step is compared with it.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead::simulation {

/// Closes the present moment of `state` and derives everything in it again, as a change of the
/// configuration does. Returns where the two differ; empty where they are equal.
std::string differs_derived_anew(State state);

}  // namespace fairlead::simulation
