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

/// Owned by one thread.
class Timeline {
 public:
  /// Folds the next events of `log`, at most `events_max` of them, and takes in how far they came.
  /// Begins at the first event or, where that was pruned, at the oldest good snapshot; begins anew
  /// if the log is not the one that it has folded so far. Returns whether it is at the end of the
  /// log. Fails if the log cannot be read, with what came before the fault folded.
  Result<bool> advance(const EventLog& log, const SnapshotSource* snapshots,
                       std::uint64_t events_max);

  /// The state after the last event that was folded, with its moment closed. Before advance()
  /// returned true it is that of an earlier event.
  const State& state() const { return closed_; }
  /// How far the log is folded.
  Seq seq() const { return state_.seq; }
  /// The time of the first event or of the snapshot that it began with.
  LogTime begin() const { return begin_; }

  const ValueSeries& values() const { return values_; }
  const CountsOverTime& counts() const { return counts_; }

 private:
  Result<void> begin_with(const EventLog& log, const SnapshotSource* snapshots);
  bool has_folded(const EventLog& log) const;
  void fold(const Event& event);
  void pass_until(LogTime time);
  void count(const Event& event);
  void count_holds(const DirtySet& dirty);
  bool is_foreign_write(const ObjectObserved& seen) const;

  State state_;   // its last moment may be open: more events of it may follow
  State closed_;  // the same, closed
  DirtySet dirty_;
  std::set<std::string> observed_;  // queues that events of the open moment are about
  std::set<std::string> held_;      // clusters that held a loss when the last moment closed
  bool begun_ = false;
  LogTime begin_;
  Digest chain_;  // after `chain_seq_`, to know the log again
  Seq chain_seq_;
  ValueSeries values_;
  CountsOverTime counts_;
};

}  // namespace fairlead
