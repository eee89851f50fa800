// The hub without threads: facts and answers in, requests out, everything through the log.
//
// One step appends the offered facts as group commits and folds them; then it decides the moment,
// plans, appends the intents, and only then returns their requests. It waits for the log's disk and
// for nothing else; sockets and the inbox are the loop's (hub_loop.h). So tests drive it with a
// memory log and a clock of their own.
//
// Facts of a burst are folded while their commit is still being written, so that the next groups
// are prepared meanwhile; but everything that a step returns follows from durable events.
//
// How a fold of the log decides as the hub did: a moment that was decided is over, so the next
// append has a strictly later time. A fold closes a moment where the log time changes, which is
// then the place at which the hub closed it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/apply/applier.h"
#include "engine/fold/state.h"
#include "engine/ingest/coalescer.h"
#include "engine/ingest/ingest.h"
#include "engine/log/event_log.h"
#include "engine/plan/plan.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/hub_figures.h"
#include "engine/runtime/notice.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

/// Whether the hub writes, or only prints what it would write.
enum class WriteMode : std::uint8_t { apply, recommend };

/// Whether more facts wait behind those that were offered: a burst is planned once, at its end.
enum class Inflow : std::uint8_t { paused, continuing };

struct HubSettings {
  std::string identity;  ///< of this process, for EpochStarted
  WriteMode mode = WriteMode::apply;
  /// Kinds watched on the hub; planning waits for the first list of each (see awaited()).
  std::vector<Kind> hub_kinds;
  SnapshotStore* snapshots = nullptr;  ///< where snapshots are saved; null: none are
};

/// A write that was planned but neither logged nor sent, in WriteMode::recommend.
struct Recommendation {
  Seq seq;  ///< the last event that it follows from
  LogTime time;
  PatchIntended intent;
};

/// What the caller must do after a step.
struct HubEffects {
  std::vector<WriteRequest> requests;           ///< each is answered by one answer()
  std::vector<Recommendation> recommendations;  ///< those that differ from the last of their object
  std::vector<Notice> notices;                  ///< changes of claims' conditions, for KubeEvents
};

/// While facts keep coming, the hub plans at the latest after this many events.
inline constexpr std::size_t kUnplannedEventsMax = 4096;
/// Rounds of planning in one step; the rest waits for the next step.
inline constexpr int kRoundsMax = 8;
/// Timers that are due closer together share a TimerFired.
inline constexpr Duration kTimerGap = milliseconds(1);

/// Owned by one thread, which alone appends to the log. `log` and `clock` outlive it. After an
/// error only figures() may be called: the log accepts no more events, so nothing may be sent.
class HubCore {
 public:
  HubCore(EventLog& log, Clock& clock, HubSettings settings, Say say);

  /// Folds the log, from the newest good snapshot on, and begins a new epoch with `configuration`
  /// in force. Calls `progress` (may be empty) with the number of events folded, and of all.
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;
  Result<void> start(const Configuration& configuration, const Progress& progress);

  /// Queue a fact or an answer for the next step, which handles all facts before all answers. Facts
  /// of members that the configuration does not name (any more) are dropped.
  void offer(WatchFact fact);
  void answer(WriteAnswer answer);
  /// The hub does not serve this kind, so planning no longer waits for a list of it.
  void absent(Kind kind);
  /// Appends a ConfigChanged if `configuration` differs from the one in force.
  Result<void> reconfigure(const Configuration& configuration);
  /// Handles the offered facts and answers and a due deadline, plans, and returns the effects. They
  /// follow from durable events only. If there are none and `inflow` continues, the last commits
  /// may not be durable yet; a later step returns their error.
  Result<HubEffects> step(Inflow inflow);
  /// When the next step is due if nothing is offered; a time in the past means at once.
  LogTime next_due() const;
  /// The log time of an append made now: the clock's, unless the log is ahead of it.
  LogTime now() const;

  /// Drops offered facts; from now on only answers are accepted, and nothing is planned.
  void wind_down();
  /// Logs each unanswered write as unknown, and saves the last snapshot.
  Result<void> give_up();

  /// Kinds of the hub that planning waits for: those without a complete list, an absent(), or a
  /// StreamLost of a kind that may stay unread.
  const std::set<Kind>& awaited() const { return awaited_; }
  const State& state() const { return state_; }
  std::size_t under_way() const { return applier_.under_way(); }
  /// Returns the numbers of now. `seq` and `log_time` are durable; in a burst the gauges may be
  /// some commits ahead of them.
  HubFigures figures() const;

 private:
  /// Whether a commit is durable before its events are folded, or may be pending (append_ahead).
  enum class Reach : std::uint8_t { disk, way };
  Result<std::vector<Event>> commit(std::vector<EventDraft>&& drafts, Reach reach = Reach::disk);
  Result<std::vector<Event>> append(std::vector<EventDraft>&& drafts, Reach reach = Reach::disk);
  Result<void> settle_log();
  Result<HubEffects> show(HubEffects effects, Inflow inflow);
  Result<void> take_snapshot();
  void tidy_up();
  Result<void> fold_log(const Progress& progress);
  Result<void> take_facts(LogTime at);
  Result<void> take_batch(const std::vector<WatchFact>& batch);
  bool answered(Kind kind);
  bool go_on_without(Kind kind);
  Result<void> append_facts(std::vector<std::pair<EventDraft, WatchFact>> logged);
  void complete_list(const SourceName& source, Kind kind,
                     std::vector<std::pair<EventDraft, WatchFact>>& logged);
  Result<void> take_answers();
  void tell(const EventDraft& outcome);
  void notice(const PatchAccepted& accepted);
  Result<void> fire_timer();
  Result<void> decide(HubEffects& effects);
  Result<void> intend(std::vector<PatchIntended> intents);
  void recommend(std::vector<PatchIntended> intents, HubEffects& effects);
  void follow_members();
  bool planning() const { return awaited_.empty() && !winding_down_; }

  EventLog& log_;
  Clock& clock_;
  const HubSettings settings_;
  const Say say_;

  State state_;
  Planner planner_{state_};
  Touched touched_;
  Epoch epoch_;
  Ingest ingest_;
  Coalescer coalescer_;
  Applier applier_{1};

  std::map<std::string, std::string>
      watched_;  ///< member -> its access, of the configuration in force
  std::vector<WatchFact> offered_;
  std::vector<WriteAnswer> answers_;
  std::vector<Notice> notices_;
  std::set<Kind> awaited_;
  std::set<std::pair<SourceName, Kind>> listed_;  ///< since their connection began
  std::map<std::pair<SourceName, Kind>, std::set<ObjectKey>>
      shown_;                               ///< objects observed before the first list is complete
  std::map<WriteKey, Digest> recommended_;  ///< the last recommendation for each object

  /// The details of the diagnostic line about a write's outcome, by the intent's seq.
  std::map<Seq, std::vector<std::pair<std::string_view, std::string>>> unanswered_;

  bool settled_ = false;       ///< the current moment is over: the next commit has a later time
  bool undecided_ = false;     ///< an event was folded since the last decision
  std::size_t unplanned_ = 0;  ///< events folded since the last decision
  Seq last_snapshot_;
  std::uint64_t last_snapshot_bytes_ = 0;
  LogTime timer_opens_;  ///< no TimerFired before (kTimerGap)
  bool winding_down_ = false;
  HubFigures figures_;
};

}  // namespace fairlead
