// Where the fold of a log can begin: with its first event, or, once events were pruned, with a
// snapshot that stands for them. Internal to replay and audit.
#pragma once

#include <optional>

#include "snapshots/snapshot_source.h"

namespace fairlead {

/// The oldest good snapshot that the kept events go on from; nullopt if there is none. `snapshots`
/// may be null.
Result<std::optional<Snapshot>> oldest_beginning(const EventLog& log,
                                                 const SnapshotSource* snapshots);

/// The state that stands for pruned events: before `seq`, and so late that no event between it and
/// `seq` is missing. nullopt if nothing was pruned, or no good snapshot is there.
Result<std::optional<State>> state_for_pruned(const EventLog& log, const SnapshotSource* snapshots,
                                              Seq seq);

}  // namespace fairlead
