// What the audit page draws, over the whole log: the values of every pair of every hub
// ClusterQueue, of every cluster and of every worker list, each as the steps at which it moved, and
// how many events there were.
//
// It is derived from the log alone, by the fold, one closed moment after the other, and goes on
// where it stopped when the log has grown. Deadlines that passed between two events are moments of
// their own. A step is what `audit quota` answers at its time and until the next step.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "engine/fold/state.h"
#include "engine/log/event_log.h"
#include "replay/timeline/event_counts.h"
#include "replay/timeline/value_series.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

/// What is drawn of the events that were folded so far, and where that was.
struct TimelineContents {
  Seq seq;       ///< the last event, with which a group commit ends
  Digest chain;  ///< of the log after it
  LogTime begin;
  std::set<std::string> held;  ///< clusters that held a loss when the last moment closed
  ValueSeries values;
  CountsOverTime counts;
};

/// Owned by one thread.
class Timeline {
 public:
  Timeline() = default;
  /// Goes on after `contents`; `state` is that after their last event, its moment not closed.
  Timeline(TimelineContents contents, State state);

  /// Folds the next events of `log`, at most `events_max` of them, and takes in how far they came.
  /// Begins at the first event or, where that was pruned, at the oldest good snapshot; begins anew
  /// if the log is not the one that it has folded so far. Returns whether it is at the end of the
  /// log. Fails if the log cannot be read, with what came before the fault folded.
  Result<bool> advance(const ReadableLog& log, const SnapshotSource* snapshots,
                       std::uint64_t events_max);
  /// Folds on like advance(), for a caller that reads nothing yet: without a state(), and without
  /// the values of the last moment while that may be open.
  Result<bool> follow(const ReadableLog& log, const SnapshotSource* snapshots,
                      std::uint64_t events_max);

  /// The state after the last event that was folded, with its moment closed; of the last advance().
  const State& state() const { return closed_; }
  /// The state after the last event that was folded; its moment may be open.
  const State& folded() const { return state_; }
  /// How far the log is folded.
  Seq seq() const { return state_.seq; }
  /// The time of the first event or of the snapshot that it began with.
  LogTime begin() const { return contents_.begin; }

  const ValueSeries& values() const { return contents_.values; }
  const CountsOverTime& counts() const { return contents_.counts; }
  /// What to keep of it: its `seq` is at most seq().
  const TimelineContents& contents() const { return contents_; }

 private:
  Result<void> begin_with(const ReadableLog& log, const SnapshotSource* snapshots);
  bool has_folded(const ReadableLog& log) const;
  void fold(const Event& event);
  void pass_until(LogTime time);
  void count(const Event& event);
  void count_holds(const DirtySet& dirty);

  State state_;   // its last moment may be open: more events of it may follow
  State closed_;  // the same, closed, after the last advance()
  DirtySet dirty_;
  ObservedNames observed_;  // what events of the open moment are about
  bool begun_ = false;
  TimelineContents contents_;
};

/// A span with more events is not folded for one question.
inline constexpr std::uint64_t kExactEventsMax = 100'000;

/// Returns the values from `from` to `to` with every step, folded from the nearest snapshot;
/// nullopt if the span has more than kExactEventsMax events. Fails as state_at() does, and if the
/// log cannot be read.
Result<std::optional<ValueSeries>> exact_values(const ReadableLog& log,
                                                const SnapshotSource* snapshots, LogTime from,
                                                LogTime to);

}  // namespace fairlead
