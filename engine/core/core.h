// The engine's loop, as data: input goes in, what must happen next comes out.
//
// A driver runs the engine: the hub, a dry run, a what-if, a simulation. It owns the log, the clock
// and the API servers, and does what each Ready says:
//
//   core.offer(fact); core.answer(answer); core.configure(configuration);   // whenever they come
//   for (;;) {
//     Ready ready = core.ready(clock.now(), inbox.empty() ? Input::complete : Input::more_pending);
//     if (!ready.append.drafts.empty()) {
//       auto events = log.append(ready.append.drafts, ready.append.time);
//       if (events) core.appended(*events, Durability::durable);
//       else if (too large && ready.append.divisible) core.refused(ready.append.drafts);
//       else return core.failed();                      // only a fresh fold shows what was stored
//       continue;
//     }
//     if (ready.watch) open the streams that it names, and close all others;
//     for (request : ready.send) server.send(request);  // its answer comes by answer()
//     if (ready.flush != Seq{}) { log.wait_durable(); core.durable(log.last_seq()); }
//     if (ready.idle()) wait for input, or until ready.next_deadline;
//   }
//
// The order is Core's alone: proposals, facts, outcomes, a due timer; then the moment closes, is
// planned, and its intents are appended, round by round; effects last. Nothing is folded before it
// is appended. Nothing is sent, and no notice given, before all that it follows from is stored.
// Appends may be asynchronous: while one is out, input queues and nothing else is asked for.
//
// A follower is the same core without this loop: its driver reads the log that another engine
// appends to, and calls learned().
//
// Pure: the same calls give the same results.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/fact_queue.h"
#include "engine/core/moments.h"
#include "engine/core/outbox.h"
#include "engine/core/ready.h"

namespace fairlead {

/// What becomes of a planned write.
enum class WriteMode : std::uint8_t {
  apply,      ///< logged, then sent
  recommend,  ///< neither logged nor sent: a Recommendation
  assume,     ///< logged; the driver proposes its outcome and observation into the same moment
};

/// What is done with a moment.
enum class Planning : std::uint8_t {
  off,     ///< nothing: events are logged and folded, and no timer fires
  paused,  ///< it closes, and timers fire; what is to be written waits
  on,
};

/// Who knows which streams exist, and when enough is known to plan.
enum class Watching : std::uint8_t {
  by_driver,  ///< the driver: each fact that it offers counts, and it calls set_planning()
  /// State: the driver keeps the streams of Ready::watch open, and facts of others are dropped.
  /// Planning begins once the first list of each kind that is read on the hub is stored.
  by_state,
};

/// While more input is pending, the moment closes at the latest after this many events.
inline constexpr std::size_t kUnplannedEventsMax = 4096;
/// Rounds of planning until an idle Ready: a rule that never comes to rest must not keep the driver
/// from its input.
inline constexpr int kRoundsMax = 8;
/// Timers that are due closer together share a TimerFired.
inline constexpr Duration kTimerGap = milliseconds(1);

struct CoreSettings {
  WriteMode mode = WriteMode::apply;
  Clocking clocking = Clocking::strict;
  Planning planning = Planning::off;
  Watching watching = Watching::by_driver;
  std::size_t unplanned_max = kUnplannedEventsMax;
  int rounds_max = kRoundsMax;
  Duration timer_gap = kTimerGap;
  std::size_t facts_max = kBatchFactsMax;  ///< of one append
};
/// Of an engine whose writes are answered within their moment, as in virtual time.
constexpr CoreSettings in_virtual_time() {
  return {.mode = WriteMode::assume,
          .clocking = Clocking::shared,
          .planning = Planning::on,
          .watching = Watching::by_driver,
          .unplanned_max = SIZE_MAX,
          .rounds_max = INT_MAX,
          .timer_gap = Duration{},
          .facts_max = kBatchFactsMax};
}

/// Owned by one thread, the only one that appends to the log.
class Core {
 public:
  explicit Core(const CoreSettings& settings);
  Core(const Core&) = delete;
  /// Begins with what the log folds to, instead of nothing. Before any other call.
  void restore(State state);

  /// Queues a fact that a stream reported.
  void offer(WatchFact&& fact);
  /// Queues the answer to a request.
  void answer(WriteAnswer answer);
  /// Proposes a ConfigChanged. Returns false, and proposes nothing, if `configuration` is the one
  /// of state(). A proposal that is still queued does not count: the same configuration twice
  /// before the first is appended is proposed twice.
  bool configure(const Configuration& configuration);
  /// Queues drafts that no stream and no answer brings, as one commit before all other.
  void propose(std::vector<EventDraft> drafts);
  void propose(Fact fact);  ///< of kSelf
  /// The hub does not serve this kind. Returns whether planning waited for a list of it: it counts
  /// as listed then.
  bool absent(Kind kind);
  /// To `on`, the present moment closes again and is planned. Directly from `off`, everything
  /// counts as changed: State may come from a snapshot, which has no dirty set. By way of `paused`,
  /// only what dirty() holds is planned. Without effect after wind_down().
  void set_planning(Planning planning);
  /// Drops all facts and plans nothing more: only answers and proposals are accepted.
  void wind_down();
  /// Drafts the outcome of every write that is not answered: unknown, with the reason `why`.
  void give_up(std::string_view why);

  /// Returns what to do next. `now` is the clock's time, and may go back.
  Ready ready(LogTime now, Input input);
  /// The last append: the log gave its drafts these places. pending: it may still fail.
  void appended(std::span<const Event> events, Durability durability);
  /// Another leader appended these events, and they are stored: they are folded. Only while this
  /// core plans nothing (Planning::off), appends nothing and has nothing queued: it follows. It
  /// leads once its driver has proposed an EpochStarted, offered first lists and turned planning
  /// on.
  void learned(std::span<const Event> events);
  /// The last append was refused as too large and changed nothing. Returns the draft that is too
  /// large alone and therefore dropped, if it is found. Only if Append::divisible.
  std::optional<EventDraft> refused(std::vector<EventDraft>&& drafts);
  /// All events up to `seq` are stored.
  void durable(Seq seq);
  /// An append failed, now or late: what follows from it is dropped, and ready() asks for nothing
  /// any more. State may be ahead of the log, so another Core begins from a fold of it.
  void failed();

  const State& state() const { return moments_.state(); }
  /// Moves State out, which another core begins with: a leader whose events are all stored becomes
  /// a follower so. What it had queued, planned or sent ends with it.
  State release_state() && { return moments_.release_state(); }
  const DirtySet& dirty() const { return moments_.dirty(); }
  /// The streams that should exist, and the kinds of the hub that planning waits for; nothing
  /// before the first event that this core appends. Only Watching::by_state.
  const Watch& watch() const { return sources_.watch(); }
  const std::set<Kind>& awaited() const { return sources_.awaited(); }
  /// Nothing is awaited, and planning has begun.
  bool synced() const { return synced_; }
  /// Whether State is in the middle of a moment.
  bool moment_open() const { return moments_.open(); }
  /// As the function of light_copy.h.
  State copy_with_nodes_of(const std::set<std::string>& clusters) {
    return moments_.copy_with_nodes_of(clusters);
  }
  const IngestCounts& ingest_counts() const { return ingest_.counts(); }
  /// Facts that wait to be logged.
  std::size_t pending_facts() const { return facts_.offered(); }
  std::size_t unsent() const { return outbox_.unsent(); }
  std::size_t under_way() const { return outbox_.under_way(); }
  /// As Ready::next_deadline, at any time.
  LogTime next_deadline() const;

 private:
  /// Effects, and the last event that they follow from.
  struct Effects {
    Seq after;
    std::vector<WriteRequest> send;
    std::vector<Recommendation> recommendations;
    std::vector<Notice> notices;
  };

  void follow_configuration();
  bool may_begin() const;
  bool may_close(Input input) const;
  Append next_append(LogTime now, Input input);
  std::vector<EventDraft> draft_timer(LogTime now);
  std::vector<EventDraft> draft_intents();
  void recommend(std::vector<PatchIntended> intents);
  Effects& effects_after(Seq seq);
  void end_turn(LogTime now, Input input, Ready& ready);

  const CoreSettings settings_;
  Moments moments_;
  Ingest ingest_;
  FirstLists lists_;
  Sources sources_;
  FactQueue facts_;
  Outbox outbox_;
  std::deque<std::vector<EventDraft>> proposed_;
  std::deque<Effects> effects_;  ///< that wait for their events to be stored, in order of `after`
  std::map<WriteKey, Digest> recommended_;  ///< the last recommendation for each object

  Planning planning_;
  bool synced_ = false;
  std::optional<Origin> out_;   ///< of the append that is not answered yet
  bool to_plan_ = false;        ///< the present moment is closed and not planned yet
  bool only_outcomes_ = false;  ///< the present moment has nothing but outcomes
  int rounds_ = 0;              ///< moments closed since the last idle Ready
  LogTime timer_opens_;         ///< no TimerFired before
  Seq durable_;
  bool winding_down_ = false;
  bool failed_ = false;
};

}  // namespace fairlead
