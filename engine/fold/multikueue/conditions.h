// The desired conditions of an AdmissionCheck. Internal to the fold.
//
// While Active is not True, Kueue makes every ClusterQueue that uses the check inactive; so it
// becomes False only if there is nothing to dispatch to, and only after `settle`.
#pragma once

#include <string>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Derives the conditions of the check at this moment and sets its next deadline.
void recompute_check(MultiKueueRoom state, const std::string& name);

}  // namespace fairlead
