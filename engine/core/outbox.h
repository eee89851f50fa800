// The writes whose intents are logged, until their outcomes are: what is sent when, and what an
// answer becomes.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/apply/applier.h"
#include "engine/core/notice.h"
#include "engine/ingest/ingest.h"

namespace fairlead {

class Outbox {
 public:
  /// `ingest` knows the versions that streams reported, and outlives this.
  explicit Outbox(Ingest& ingest) : ingest_(ingest) {}

  void set_inflight_max(std::int64_t inflight_max) { applier_.set_inflight_max(inflight_max); }
  /// Enqueues the write of a logged PatchIntended. An older one of the same object that waits is
  /// replaced: its outcome is drafted next. `state` holds the intent.
  void intended(const State& state, const Event& intent);
  /// Queues the answer to a request.
  void answer(WriteAnswer answer) { answers_.push_back(std::move(answer)); }
  /// Gives every write up that is not answered: their outcomes (unknown, with the reason `why`) are
  /// drafted next.
  void give_up(std::string_view why);

  /// Returns the outcomes to log. `state` holds everything that was logged.
  std::vector<EventDraft> draft(const State& state, LogTime now);
  /// The drafted outcomes are events. Returns the observations that may be results of writes
  /// without an answer, and that came before those outcomes: to be offered again, because no stream
  /// will repeat them.
  std::vector<WatchFact> logged() { return std::exchange(observed_before_, {}); }
  /// What the owners of objects should know of the drafted outcomes.
  std::vector<Notice> notices() { return std::exchange(notices_, {}); }

  /// Dequeues the writes to send now.
  std::vector<WriteRequest> requests(LogTime now) { return applier_.requests(now); }
  LogTime next_due() const { return applier_.next_due(); }
  /// Outcomes can be drafted.
  bool waiting() const { return !answers_.empty() || !outcomes_.empty(); }
  /// Returns whether requests are under way whose answers have not arrived.
  bool awaits_answers() const { return applier_.under_way() > answers_.size(); }
  std::size_t unsent() const { return applier_.waiting(); }
  std::size_t under_way() const { return applier_.under_way(); }

 private:
  void look_for_result(const State& state, WriteAnswer& answer);
  void look_for_observation(const State& state, Seq intent);
  void note(const State& state, const PatchAccepted& accepted);
  void resolve_notices(const EventDraft& outcome);

  Ingest& ingest_;
  Applier applier_{1};
  std::vector<WriteAnswer> answers_;
  std::vector<EventDraft> outcomes_;  ///< of replaced and given up writes
  std::vector<WatchFact> observed_before_;
  std::vector<Notice> notices_;
  /// Notices of the pool, by the intent that they are about, while it has no outcome: the stream
  /// may show a write, and so conclude it in State, before its answer comes.
  std::map<Seq, std::vector<Notice>> expected_notices_;
};

}  // namespace fairlead
