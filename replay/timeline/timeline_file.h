// The index of the audit page: what a Timeline holds in a file of the data directory, so that a
// page over a long log need not wait until all of it is folded.
//
// It is derived from the log, is not part of the hash chain, and may be deleted at any time. One
// that is damaged, of another log or of a program that folds or draws otherwise is not used. Why it
// is not part of the log: docs/decisions/0041-an-index-beside-the-log.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "replay/timeline/timeline.h"

namespace fairlead {

/// Changes whenever the same events would give other steps while they fold to the same State.
inline constexpr std::uint32_t kTimelineVersion = 3;

/// Returns the file of the index: DATA/moments.
std::filesystem::path timeline_file(const std::filesystem::path& data);

/// Saves the contents of `timeline` in place of those that were saved before. Returns the size of
/// the file in bytes. Fails as replace_file() does (snapshots/stored_file.h).
Result<std::uint64_t> save_timeline(const Timeline& timeline, const std::filesystem::path& data);

/// Returns the Timeline that was saved, its state folded from the nearest of the snapshots; nullopt
/// if none was saved or it cannot be used for this log.
std::optional<Timeline> saved_timeline(const std::filesystem::path& data, const ReadableLog& log,
                                       const SnapshotSource* snapshots);

}  // namespace fairlead
