// An engine that follows a log: its State, which is what the log folds to, its snapshots, its
// stats, its views for the webhook, and its answers to questions about now.
//
// Each process of a hub is a replica. One of them leads (leader.h) and alone appends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/core/core.h"
#include "engine/log/event_log.h"
#include "engine/runtime/admission_feed.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/hub_snapshots.h"
#include "engine/runtime/hub_stats.h"
#include "engine/runtime/present_state.h"
#include "engine/runtime/queue_use_text.h"
#include "engine/runtime/system_clock.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

struct HubSettings {
  std::string identity;                ///< of this process, for EpochStarted
  WriteMode mode = WriteMode::apply;   ///< or recommend
  SnapshotStore* snapshots = nullptr;  ///< where snapshots are saved; null: none are
  AdmissionFeed* admission = nullptr;  ///< where views of State are published; null: nowhere
  /// Returns how often the hub was asked to stop, ever: a snapshot that is being taken when it is
  /// asked (again) is given up. Empty: never.
  std::function<int()> stops = {};
  PresentState* present = nullptr;  ///< where State is shown to questions; null: nowhere
  std::size_t saved_aside_nodes = kSavedAsideNodes;
  std::size_t facts_max = kBatchFactsMax;       ///< of one append
  std::function<LogTime()> now{monotonic_now};  ///< a monotonic time, for spans
};

/// Owned by one thread. `log` and `clock` outlive it.
class Replica {
 public:
  Replica(EventLog& log, Clock& clock, HubSettings settings, Logger logger);

  /// Folds the log, from the newest good snapshot on. Before any other call. Calls `progress` (may
  /// be empty) with the number of events folded, and of all.
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;
  Result<void> fold(const Progress& progress);
  /// Folds what another leader appended, up to `last`, and shows State to what waits for it. `view`
  /// says whether State holds what the hub's API server does. Not while a Leader has this replica.
  Result<void> follow(Seq last, ViewState view = ViewState::unsynced);

  const State& state() const { return core_->state(); }
  /// The log time of an append made now: the clock's, unless the log is ahead of it.
  LogTime now() const;
  /// Returns the numbers of now. `seq` and `log_time` are durable; in a burst the gauges may be
  /// some commits ahead of them.
  HubStats stats();

 private:
  friend class Leader;  // which appends in its name

  void restart(State state);
  void publish_view(ViewState view);
  Result<void> show_present(const std::function<Result<void>()>& flush);

  EventLog& log_;
  Clock& clock_;
  const HubSettings settings_;
  const Logger logger_;

  std::unique_ptr<Core> core_;
  HubSnapshots snapshots_;
  HubStats stats_;  ///< the counters
  ClaimCensus census_;
  Census<PoolCounts, count_pool> pool_census_;
  Census<DispatchCounts, count_dispatch> dispatch_census_;
  Census<SharedCounters, count_use> use_census_;
  Census<QueueCounts, count_queues, kQueueCountsInterval> queue_census_;
};

}  // namespace fairlead
