// By which check and worker list a Workload is dispatched.
#pragma once

#include "engine/fold/multikueue/multikueue_state.h"

namespace fairlead {

/// Returns the first of our checks on the Workload; null if it has none.
const CheckRecord* check_of(const MultiKueue& multikueue, const WorkloadFacts& workload);

/// Returns the list that the Workload is dispatched by; null if there is none.
const WorkerList* list_of_workload(const MultiKueue& multikueue, const WorkloadFacts& workload);

}  // namespace fairlead
