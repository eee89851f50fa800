// Dispatch by devices: a Workload that uses devices is nominated to the one cluster where all of
// its pods fit, and the devices that it will get there are reserved. Internal to the fold.
//
// One moment: releases and replacements by fact first, then repairs, then one pass over the
// Workloads that wait, in their order. Where a Workload leaves a cluster and so frees devices, the
// pass is made again, until nothing moves.
#pragma once

#include <string>

#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Whether the Workload is dispatched here, and not by the worker list as a whole. Marks it if it
/// is; ends what was decided for it if it is not any more.
bool takes_over(DispatchRoom state, const NamespacedName& id, const WorkloadFacts& facts,
                WorkloadRecord& record);
/// Notes that a Workload is gone, or was created anew.
void forget_dispatch(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record);
/// Marks the Workloads whose use of devices may follow from a class that the moment changed. Called
/// before nominations are derived.
void mark_users_of_classes_dirty(DispatchRoom state);
/// Closes the open moment, after worker lists were decided. Adds the Workloads whose nomination or
/// condition may have changed to MultiKueue::dirty_workloads.
void recompute_dispatch(DispatchRoom state);

}  // namespace fairlead
