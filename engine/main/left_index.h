// The index of the audit page that a long log is left with, so that its first page is there at
// once.
#pragma once

#include <filesystem>

#include "engine/log/event_log.h"

namespace fairlead {

/// A shorter log is folded within a second: it gets none.
inline constexpr std::uint64_t kIndexedEventsMin = 200'000;

/// Folds `log`, which is in `data`, and saves the index (replay/timeline/timeline_file.h), with
/// progress on a terminal. Fails as the log fails to be read, and as the file fails to be written.
Result<void> leave_index(const ReadableLog& log, const std::filesystem::path& data);
/// The same of the log in a data directory.
Result<void> leave_index_in(const std::filesystem::path& data);

}  // namespace fairlead
