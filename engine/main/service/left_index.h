// What a long log is left with, so that its first page and its first question are answered at once:
// the index of the page and, where snapshots are far apart, folded states.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/log/event_log.h"

namespace fairlead {

/// A shorter log is folded within a second: it gets nothing.
inline constexpr std::uint64_t kIndexedEventsMin = 200'000;
/// The same in snapshots of a hub, or in states: by default as many events (`log.snapshotEvery`).
inline constexpr std::uint64_t kIndexedSnapshotsMin = 8;

/// Folds `log`, which is in `data` and has at least `events_min` events, with progress on a
/// terminal. Saves the index (replay/timeline/timeline_file.h), and a state after each eighth of
/// `events_min` and at the end, unless a snapshot for which the log vouches is near
/// (snapshots/folded_states.h). Fails as the log fails to be read, and as a file fails to be
/// written.
Result<void> leave_index(const ReadableLog& log, const std::filesystem::path& data,
                         std::uint64_t events_min = kIndexedEventsMin);
/// Does so for the log in a data directory.
Result<void> leave_index_in(const std::filesystem::path& data);

}  // namespace fairlead
