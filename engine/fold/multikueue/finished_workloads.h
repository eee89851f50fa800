// Which Workloads State forgets: a finished one workloads.keepFinished after it was first observed
// so, and past workloads.max of one API server those that finished last.
//
// No deadline does it: whenever a moment closes, what is past then is forgotten. Ingest drops
// observations of Workloads that were forgotten.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// An API server and one of its Workloads.
using WorkloadOfSource = std::pair<SourceName, NamespacedName>;

/// Notes whether the Workload has finished, and when that was first observed. `facts` is null if it
/// is gone.
void note_finished(StateView<MultiKueue, const LogPosition> state, const SourceName& source,
                   const NamespacedName& id, const WorkloadFacts* facts);

/// Whether a Workload that finished then, or was observed so, is not kept any more at the present
/// log time.
bool is_past(StateView<const Configuration, const LogPosition> state, LogTime finished);

/// Returns a Workload that is not kept any more; nullopt if there is none.
std::optional<WorkloadOfSource> next_past(
    StateView<const Configuration, MultiKueue, const LogPosition> state);

/// Returns the Workload of the API server that finished last; nullopt if none has.
std::optional<NamespacedName> finished_last(StateView<const MultiKueue> state,
                                            const SourceName& source);
/// Returns how many of its Workloads have finished.
std::size_t count_finished(StateView<const MultiKueue> state, const SourceName& source);

}  // namespace fairlead
