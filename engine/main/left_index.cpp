#include "engine/main/left_index.h"

#include "engine/main/terminal_progress.h"
#include "replay/history.h"
#include "replay/timeline/timeline_file.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

Result<void> leave_index(const ReadableLog& log, const std::filesystem::path& data) {
  if (log.last_seq().value - log.first_seq().value < kIndexedEventsMin) return {};
  constexpr std::uint64_t kStep = 50'000;
  const auto progress = progress_on_terminal("indexing for the page: ");
  const SnapshotStore snapshots(data);
  Timeline timeline;
  for (;;) {
    const auto at_end = timeline.follow(log, &snapshots, kStep);
    if (!at_end) return at_end.error();
    if (progress) progress(timeline.seq().value, log.last_seq().value);
    if (*at_end) break;
  }
  if (const auto saved = save_timeline(timeline, data); !saved) return saved.error();
  return {};
}

Result<void> leave_index_in(const std::filesystem::path& data) {
  const auto history = open_history(data, "");
  if (!history) return history.error();
  return leave_index(*history->log, data);
}

}  // namespace fairlead
