// Whether an AdmissionCheck's conditions are still as our last accepted write left them.
#pragma once

#include <string>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns true if another writer has changed the status, reason or generation of a condition of
/// ours since our last accepted write, and no write of them is outstanding or awaited.
bool check_status_is_foreign(StateView<const MultiKueue, const WriteTables> state,
                             const std::string& name);

}  // namespace fairlead
