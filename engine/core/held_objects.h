// Which objects State holds: what a complete list of their kind would name.
#pragma once

#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// Returns every object of `kind` that State holds of the API server `source`, in order.
std::vector<ObjectKey> objects_held(const State& state, const SourceName& source, Kind kind);

}  // namespace fairlead
