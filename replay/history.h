// What questions about the past are asked of: the data directory of a hub, running or not, or a
// bundle file. Whoever reads one reads the other.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/log/event_log.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

/// A log, open for reading, and its snapshots.
struct History {
  std::unique_ptr<EventLog> log;
  std::unique_ptr<SnapshotSource> snapshots;
};

/// Opens the history in a data directory or in a bundle file: one of the two is empty. Nothing is
/// changed. `bad_input` if both or neither are named, or if what is named is no log of Fairlead or
/// one of a newer version; `corrupt` if nothing of it can be read (of a bundle: if one bit
/// differs).
Result<History> open_history(const std::filesystem::path& data,
                             const std::filesystem::path& bundle);

}  // namespace fairlead
