#include "engine/main/service/left_index.h"

#include <algorithm>

#include "engine/main/client/terminal_progress.h"
#include "engine/runtime/build_commit.h"
#include "replay/history.h"
#include "replay/timeline/timeline_file.h"
#include "replay/usage/usage_index.h"
#include "snapshots/folded_states.h"
#include "snapshots/snapshot_pieces.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

namespace {

// Leaves states while a Timeline folds a log.
class LeftStates {
 public:
  LeftStates(const ReadableLog& log, const std::filesystem::path& data, std::uint64_t spacing)
      : log_(log),
        snapshots_(data),
        folded_(data, build_identity()),
        spacing_(std::max(spacing, log.last_seq().value / kSnapshotsMax)) {
    folded_.remove_others();
  }

  // Saves the state that the timeline has come to, if it is far from the one before.
  Result<void> offer(const Timeline& timeline) {
    const Seq seq = timeline.seq();
    const bool ends_commit = timeline.contents().seq == seq;
    // Most questions are about the end, so a state is nearer to it.
    constexpr std::uint64_t kNearerAtEnd = 10;
    const std::uint64_t spacing =
        seq == log_.last_seq() ? spacing_ / kNearerAtEnd + 1
                               : snapshot_spacing(static_cast<std::int64_t>(spacing_), bytes_);
    if (!ends_commit || seq.value < std::max(last_, vouched(seq)).value + spacing) return {};
    const auto saved = folded_.save(timeline.folded(), timeline.contents().chain);
    if (!saved) return saved.error();
    last_ = seq;
    bytes_ = saved->bytes;
    return {};
  }

 private:
  // The nearest snapshot at or before `seq`, if the log vouches for it; else 0.
  Seq vouched(Seq seq) const {
    const auto nearest = snapshots_.nearest(seq);
    const auto info = nearest ? first_snapshot_from(snapshots_, *nearest) : std::nullopt;
    return info && info->seq <= seq && voucher_of(log_, *info) == Voucher::given ? info->seq
                                                                                 : Seq{};
  }

  const ReadableLog& log_;
  const SnapshotStore snapshots_;
  FoldedStates folded_;
  const std::uint64_t spacing_;
  Seq last_;
  std::uint64_t bytes_ = 0;  // of the last one
};

// Adds up use by hour. Each step begins at the state before it, so a small one would fold again
// what lies between that and the snapshot before.
Result<void> leave_usage(const ReadableLog& log, const std::filesystem::path& data) {
  constexpr std::uint64_t kEventsOfStep = 500'000;
  const SnapshotsForQuestions states(log, data, build_identity());
  UsageHours hours;
  for (;;) {
    const auto at_end = add_hours(hours, {log, &states}, kEventsOfStep);
    if (!at_end) return at_end.error();
    if (*at_end) return save_usage_hours(hours, data);
  }
}

}  // namespace

Result<void> leave_index(const ReadableLog& log, const std::filesystem::path& data,
                         std::uint64_t events_min) {
  if (log.last_seq().value - log.first_seq().value < events_min) return {};
  const std::uint64_t step = events_min / kIndexedSnapshotsMin + 1;
  const auto progress = progress_on_terminal("indexing: ");
  const SnapshotStore snapshots(data);
  LeftStates states(log, data, step);
  Timeline timeline;
  for (;;) {
    const auto at_end = timeline.follow(log, &snapshots, step);
    if (!at_end) return at_end.error();
    if (auto saved = states.offer(timeline); !saved) return saved;
    if (progress) progress(timeline.seq().value, log.last_seq().value);
    if (*at_end) break;
  }
  if (const auto saved = save_timeline(timeline, data); !saved) return saved.error();
  return leave_usage(log, data);
}

Result<void> leave_index_in(const std::filesystem::path& data) {
  const auto history = open_history(data, "");
  if (!history) return history.error();
  return leave_index(*history->log, data);
}

}  // namespace fairlead
