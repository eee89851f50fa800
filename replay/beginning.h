// Finds where the fold of a log can begin: at its first event or, after pruning, at a snapshot that
// replaces the pruned events. Internal to replay and audit.
#pragma once

#include <optional>

#include "snapshots/snapshot_source.h"

namespace fairlead {

/// Returns the oldest good snapshot from which the kept events continue; nullopt if there is none.
/// `snapshots` may be null.
Result<std::optional<Snapshot>> oldest_beginning(const ReadableLog& log,
                                                 const SnapshotSource* snapshots);

/// Returns a state that replaces pruned events: from before `seq`, and recent enough that no event
/// between it and `seq` is missing. nullopt if nothing was pruned, or there is no good snapshot.
Result<std::optional<State>> state_for_pruned(const ReadableLog& log,
                                              const SnapshotSource* snapshots, Seq seq);

}  // namespace fairlead
