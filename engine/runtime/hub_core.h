// The hub without threads: the driver of the core (engine/core/core.h) that has a log on a disk, a
// clock, snapshots and diagnostics.
//
// One step does all that the core asks for and returns the effects, which follow from durable
// events. It waits for the log's disk and for nothing else; sockets and the inbox are the loop's
// (hub_loop.h). So tests drive it with a memory log and a clock of their own.
//
// Facts of a burst are folded while their commit is still being written, so that the next groups
// are prepared meanwhile.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/core/core.h"
#include "engine/log/event_log.h"
#include "engine/runtime/admission_feed.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/hub_snapshots.h"
#include "engine/runtime/hub_stats.h"
#include "engine/runtime/present_state.h"
#include "engine/runtime/write_diagnostics.h"
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
};

/// What the caller must do after a step.
struct HubEffects {
  /// Not null: open these streams and close all others, first. Valid until the next step.
  const Watch* watch = nullptr;
  std::vector<WriteRequest> requests;           ///< each is answered by one answer()
  std::vector<Recommendation> recommendations;  ///< those that differ from the last of their object
  std::vector<Notice> notices;                  ///< for KubeEvents
};

/// Owned by one thread, which alone appends to the log. `log` and `clock` outlive it. After an
/// error only stats() may be called: the log accepts no more events, so nothing may be sent.
class HubCore {
 public:
  HubCore(EventLog& log, Clock& clock, HubSettings settings, Logger logger);

  /// Folds the log, from the newest good snapshot on, and begins a new epoch with `configuration`
  /// in force. Calls `progress` (may be empty) with the number of events folded, and of all.
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;
  Result<void> start(const Configuration& configuration, const Progress& progress);

  /// Queue a fact or an answer for the next step. Facts of streams that should not exist are
  /// dropped.
  void offer(WatchFact fact) { core_.offer(std::move(fact)); }
  void answer(WriteAnswer answer) { core_.answer(std::move(answer)); }
  /// Queues what the webhook decided, as one commit of the next step.
  void note(std::vector<AdmissionDecided> notes);
  /// The hub does not serve this kind, so planning no longer waits for a list of it.
  void absent(Kind kind);
  /// Appends a ConfigChanged if `configuration` differs from the one in force.
  Result<void> reconfigure(const Configuration& configuration);
  /// Handles all that was offered and a due deadline, plans, and returns the effects. If there are
  /// none and more input is pending, the last commits may not be durable yet; a later step returns
  /// their error.
  Result<HubEffects> step(Input input);
  /// When the next step is due if nothing is offered; a time in the past means at once.
  LogTime next_due() const { return core_.next_deadline(); }
  /// The log time of an append made now: the clock's, unless the log is ahead of it.
  LogTime now() const;

  /// Counts a notice that could not be kept until its turn, and logs the first.
  void lose_notice();

  /// Drops offered facts; from now on only answers are accepted, and nothing is planned.
  void wind_down() { core_.wind_down(); }
  /// Winds down, logs each unanswered write as unknown, and saves a last snapshot where that costs
  /// less than folding again what came since the one before.
  Result<void> give_up();

  /// Kinds of the hub that planning waits for: those without a complete list, an absent(), or a
  /// StreamLost of a kind that may stay unread.
  const std::set<Kind>& awaited() const { return core_.awaited(); }
  const State& state() const { return core_.state(); }
  std::size_t under_way() const { return core_.under_way(); }
  /// Returns the numbers of now. `seq` and `log_time` are durable; in a burst the gauges may be
  /// some commits ahead of them.
  HubStats stats();

 private:
  Ready ready(Input input);
  Result<void> append(Append append);
  Result<std::vector<Event>> commit(Append& append);
  void drop_if_too_large(std::vector<EventDraft>&& drafts, const Error& refusal);
  void report(const std::vector<Event>& events, Origin origin);
  Result<void> flush();
  Result<void> take_snapshot(HubSnapshots::Saving saving);
  Result<void> fold_log(const Progress& progress);
  void report_configuration() const;
  void report_refused(const std::vector<Kind>& kinds) const;
  void publish_view();

  EventLog& log_;
  Clock& clock_;
  const HubSettings settings_;
  const Logger logger_;

  Core core_;
  Epoch epoch_;
  WriteDiagnostics writes_;
  ClaimCensus census_;
  Census<PoolCounts, count_pool> pool_census_;
  Census<DispatchCounts, count_dispatch> dispatch_census_;
  bool synced_ = false;  ///< as it was reported last
  HubSnapshots snapshots_;
  HubStats stats_;
};

}  // namespace fairlead
