// The source of every question about the past: the data directory of a hub, running or not, or a
// bundle file. Both are read through the same interfaces.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "engine/log/log_reader.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

/// A log, open for reading, and its snapshots.
struct History {
  std::unique_ptr<ReadableLog> log;
  std::unique_ptr<SnapshotSource> snapshots;
  /// The same and the states that this program folded between them (snapshots/folded_states.h);
  /// null: there are none.
  std::unique_ptr<SnapshotSource> folded = nullptr;

  /// What a question is answered from; what verifies the log takes `snapshots`.
  const SnapshotSource* for_questions() const { return folded ? folded.get() : snapshots.get(); }
};

/// Opens the history in a data directory or in a bundle file; exactly one of the two paths is not
/// empty. `program` is for FoldedStates; empty: they are not used. Changes nothing. Fails with
/// `bad_input` if both or neither are named, or if the named one is not a log of Fairlead or one of
/// a newer version; with `corrupt` if it cannot be read (a bundle: if one bit differs).
Result<History> open_history(const std::filesystem::path& data, const std::filesystem::path& bundle,
                             std::string_view program = {});

}  // namespace fairlead
