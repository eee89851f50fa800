// Reservations: made, released, replaced by what a cluster allocated, and repaired. Internal to the
// fold.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/dispatch/question.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Makes `reservation` the Workload's, in place of its former one.
void reserve(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record,
             DeviceReservation reservation);
/// Frees all that is reserved for the Workload, if anything is. Its cluster is looked at again.
void release(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record);

/// Lets allocated claims of the cluster replace what was reserved for their Workloads, if the open
/// moment changed them or their Pods.
void replace_by_facts(DispatchRoom state, const std::string& cluster);
/// Drops what is still reserved for a Workload.
void drop_rest(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record);

/// Solves the reservations in the cluster again of which the open moment may have changed a device
/// or a node, and those that are broken. What has no solution is broken from then on.
/// Returns the Workloads whose reservation became broken, or is not any more.
std::vector<NamespacedName> repair(DispatchRoom state, const std::string& cluster);

}  // namespace fairlead
