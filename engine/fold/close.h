// The close of a moment: in which order the rooms derive what changed, and who follows whom.
#pragma once

#include "engine/fold/changes.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Closes the present moment. After that only our own writes and their outcomes may have this log
/// time.
void close_moment(State& state, DirtySet& dirty);

/// Forgets Workloads of the API server past workloads.max, those that finished last first.
void bound_workloads(State& state, const SourceName& source);

/// Marks what follows from the changes: it is derived again when the present moment closes.
void hand_on(State& state, const Changes& changes);

}  // namespace fairlead
