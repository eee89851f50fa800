// When the reservation of a Workload may move, and when it ends. Internal to the fold.
#pragma once

#include <optional>

#include "engine/base/time.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Whether `span` has passed since then; a span of 0 never does.
bool is_over(LogTime since, Duration span, LogTime now);
/// Whether the list still has the worker that the reservation is for.
bool is_listed(const DeviceReservation& reservation, const WorkerList& list);
/// Whether the nomination of a Workload with this reservation may move to another cluster.
bool is_restless(DispatchReader state, const DeviceReservation& of, const WorkerList& list);
/// Returns when is_restless or the end of the reservation's rest may come true without an event;
/// nullopt: never. A worker that leaves the list has a deadline of the list.
std::optional<LogTime> due_of(DispatchReader state, const std::optional<DeviceReservation>& of,
                              const WorkerList* list);

}  // namespace fairlead
