// A replica that leads: it begins an epoch, knows which streams there should be, plans, and alone
// appends to the log. The driver of the core (engine/core/core.h) without threads.
//
// One step does all that the core asks for and returns the effects, which follow from durable
// events. It waits for the log's disk and for nothing else; sockets and the inbox are the loop's
// (hub_loop.h). So tests drive it with a memory log and a clock of their own.
//
// Facts of a burst are folded while their commit is still being written, so that the next groups
// are prepared meanwhile.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "engine/runtime/replica.h"
#include "engine/runtime/write_diagnostics.h"

namespace fairlead {

/// What the caller must do after a step.
struct HubEffects {
  /// Not null: open these streams and close all others, first. Valid until the next step.
  const Watch* watch = nullptr;
  std::vector<WriteRequest> requests;           ///< each is answered by one answer()
  std::vector<Recommendation> recommendations;  ///< those that differ from the last of their object
  std::vector<Notice> notices;                  ///< for KubeEvents
};

/// How long give_up() waits for a log whose appends take their time.
inline constexpr Duration kGiveUpMax = seconds(5);

/// Owned by the replica's thread. After an error only stats() may be called: the log accepts no
/// more events, so nothing may be sent.
class Leader {
 public:
  /// `replica` outlives it, and has folded the whole log when begin() is called.
  explicit Leader(Replica& replica);

  /// Takes over: begins a new epoch with `configuration` in force, now or, where an append takes
  /// its time, in later steps. The first effects name the streams, all of which are listed anew.
  Result<void> begin(const Configuration& configuration);
  /// Gives the replica back, which follows from now on; nothing else may be called then. What was
  /// queued or is being appended is dropped, and what was sent and not answered is unknown to the
  /// next leader. Fails if an append did: State may be ahead of the log.
  Result<void> step_down();

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
  /// their error. Fails with `conflict` if another leader has appended meanwhile: State is what the
  /// log says, and step_down() is next.
  Result<HubEffects> step(Input input);
  /// An append is under way, which a later step takes up; until then nothing else happens.
  bool appending() const { return appending_.has_value(); }
  /// Returns how long the log asks to wait before the next append. A step within this time appends
  /// nothing.
  Duration pause() const { return log_.pause(); }
  /// When the next step is due if nothing is offered; a time in the past means at once.
  LogTime next_due() const { return core_.next_deadline(); }
  LogTime now() const { return replica_.now(); }

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
  std::size_t pending_facts() const { return core_.pending_facts(); }
  HubStats stats() { return replica_.stats(); }

 private:
  Ready ready(Input input);
  void publish_view();
  Result<void> append(Append append);
  Result<void> collect();
  Result<void> drain(LogTime end);
  Result<void> appended(std::vector<Event>&& events);
  void drop_if_too_large(std::vector<EventDraft>&& drafts, const Error& refusal);
  void report(const std::vector<Event>& events, Origin origin);
  void report_configuration() const;
  void report_refused(const std::vector<Kind>& kinds) const;
  Result<void> flush();
  Result<void> take_snapshot(HubSnapshots::Saving saving);

  Replica& replica_;
  // What is the replica's, and used in its name.
  EventLog& log_;
  Clock& clock_;
  const HubSettings& settings_;
  const Logger& logger_;
  Core& core_;
  HubSnapshots& snapshots_;
  HubStats& stats_;

  /// An append that was begun.
  struct Appending {
    Origin origin;
    Durability durability;
    LogTime began;  ///< monotonic
  };

  Epoch epoch_;
  Seq folded_;  ///< before the epoch
  std::optional<Appending> appending_;
  WriteDiagnostics writes_;
  bool synced_ = false;  ///< as it was reported last
};

}  // namespace fairlead
