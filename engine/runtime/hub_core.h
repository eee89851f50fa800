// The hub without threads: facts and answers in, requests out, everything through the log.
//
// One step appends what was offered as a group commit and folds it; then it decides the moment,
// plans, appends the intents, and only then returns their requests. Nothing here waits, sends or
// listens: the loop (hub_loop.h) does. So tests drive it with a memory log and a clock of their
// own.
//
// Facts of a burst are folded while their commit is on its way to the disk, so that the next groups
// are made ready meanwhile; but whatever a step returns or says follows from what is durable.
//
// How the log stays true to what was done: a moment that was decided is over, so whatever is
// appended after it has a strictly later time. Folding the log then decides at the same places as
// the hub did.
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

/// Whether the hub writes, or only says what it would write.
enum class WriteMode : std::uint8_t { apply, recommend };

/// Whether more facts wait behind those that were offered: a burst is planned once, at its end.
enum class Inflow : std::uint8_t { paused, continuing };

struct HubSettings {
  std::string identity;  ///< of this process, for EpochStarted
  WriteMode mode = WriteMode::apply;
  std::vector<Kind> hub_kinds;  ///< that are watched on the hub: all must be told of before a plan
  SnapshotStore* snapshots = nullptr;  ///< where they are taken; null: none are
};

/// A write that was planned and not intended, in WriteMode::recommend.
struct Recommendation {
  Seq seq;  ///< the last event that it follows from
  LogTime time;
  PatchIntended intent;
};

/// What must be done after a step, in this order.
struct HubEffects {
  std::vector<WriteRequest> requests;           ///< each is answered by one answer()
  std::vector<Recommendation> recommendations;  ///< those that differ from the last of their object
  std::vector<Notice> notices;                  ///< what accepted statuses tell an administrator
};

/// Even while facts flow in, it is planned after this many events.
inline constexpr std::size_t kUnplannedEventsMax = 4096;
/// Rounds of planning in one step; what is left waits for the next.
inline constexpr int kRoundsMax = 8;
/// Timers that are due closer together share a TimerFired.
inline constexpr Duration kTimerGap = milliseconds(1);

/// Owned by one thread, which alone appends to the log. `log` and `clock` outlive it. After an
/// error nothing may be asked of it but figures(): the log takes no more, so nothing may be sent.
class HubCore {
 public:
  HubCore(EventLog& log, Clock& clock, HubSettings settings, Say say);

  /// Folds the log, from the newest good snapshot on, and begins a new epoch with `configuration`
  /// in force. `progress` (may be empty) is told how many of how many events are folded.
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;
  Result<void> start(const Configuration& configuration, const Progress& progress);

  /// The next step takes them in, in this order. Facts of members that the configuration does not
  /// name (any more) are dropped.
  void offer(WatchFact fact);
  void answer(WriteAnswer answer);
  /// The hub does not serve this kind: no list of it is going to come.
  void absent(Kind kind);
  /// A ConfigChanged, if it differs from what is in force.
  Result<void> reconfigure(const Configuration& configuration);
  /// What it returns follows from durable events only. If it returns nothing and facts continue,
  /// the last commits may still be on their way: their error is that of a later step.
  Result<HubEffects> step(Inflow inflow);
  /// When the next step is due if nothing is offered: a moment of the past means at once.
  LogTime next_due() const;
  /// The log time of what would be appended now: the clock's, unless the log is ahead of it.
  LogTime now() const;

  /// From now on only answers are taken in.
  void wind_down();
  /// What is still unanswered is logged as unknown, and the last snapshot is taken.
  Result<void> give_up();

  /// Kinds of the hub that neither a list nor absent() told of, nor a StreamLost if they may stay
  /// unread; planning waits for them.
  const std::set<Kind>& awaited() const { return awaited_; }
  const State& state() const { return state_; }
  std::size_t under_way() const { return applier_.under_way(); }
  /// `seq` and `log_time` are durable; in a burst the gauges may be some commits ahead of them.
  HubFigures figures() const;

 private:
  /// Whether a commit is durable when its events are folded, or still on its way (append_ahead).
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
      watched_;  ///< member -> kubeconfig, of the configuration in force
  std::vector<WatchFact> offered_;
  std::vector<WriteAnswer> answers_;
  std::vector<Notice> notices_;
  std::set<Kind> awaited_;
  std::set<std::pair<SourceName, Kind>> listed_;  ///< since their connection began
  std::map<std::pair<SourceName, Kind>, std::set<ObjectKey>> shown_;  ///< before the first list
  std::map<WriteKey, Digest> recommended_;                            ///< the last of each object

  /// What the operator is told with an outcome, by the intent's seq.
  std::map<Seq, std::vector<std::pair<std::string_view, std::string>>> unanswered_;

  bool settled_ = false;    ///< the present moment is over: the next commit is later
  bool undecided_ = false;  ///< something was folded since the last decision
  std::size_t unplanned_ = 0;
  Seq last_snapshot_;
  std::uint64_t last_snapshot_bytes_ = 0;
  LogTime timer_opens_;
  bool winding_down_ = false;
  HubFigures figures_;
};

}  // namespace fairlead
