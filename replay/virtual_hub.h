// The hub's engine in virtual time, against a world that only answers.
//
// It is what rehearsals and what-ifs have in common: the same ingest, coalescing, fold and plan as
// the hub; time goes from what is told to the next deadline; everything at one time is taken in
// before anything is written; a write is taken as accepted and comes back as an observation, unless
// feedback is switched off.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/ingest/coalescer.h"
#include "engine/ingest/ingest.h"
#include "engine/log/event_log.h"
#include "engine/plan/plan.h"

namespace fairlead {

/// Whether writes are answered.
enum class Feedback : std::uint8_t { assumed, none };

/// One write: the intent with its place and time.
struct PlannedWrite {
  Seq seq;
  LogTime time;
  PatchIntended intent;
};

/// What a VirtualHub needs and whom it tells. All but `append` may be empty.
struct VirtualPorts {
  /// Numbers and keeps drafts of one moment, as EventLog::append.
  std::function<Result<std::vector<Event>>(std::vector<EventDraft>, LogTime)> append;
  /// The newest resourceVersion of an object, which its next write carries; empty: as State knows.
  std::function<std::string(const std::string& cluster, const ObjectKey& key)> newest_version;
  /// A write was accepted, with this uid and resourceVersion.
  std::function<void(const PatchIntended&, const std::string& uid, const std::string& version)>
      accepted;
  /// The object that a write left is gone.
  std::function<void(const PatchIntended&)> gone;
  /// A moment was decided; `touched` is what changed since the one before.
  std::function<void(const State&, const Touched&)> decided;
};

/// The drafts of one moment as events behind `last`, which moves on: an `append` that keeps
/// nothing.
std::vector<Event> numbered(std::vector<EventDraft> drafts, LogTime at, Seq& last);

class VirtualHub {
 public:
  /// From a state, at its time.
  VirtualHub(VirtualPorts ports, Feedback feedback, State start = {});

  /// Appends what is nobody's watch fact. Times do not go back.
  Result<void> tell(LogTime at, std::vector<EventDraft> drafts);
  /// What a stream said at the present moment, through coalescing and ingest. False: it was older
  /// than what is known.
  Result<bool> offer(WatchFact fact);
  /// A bookmark or the like: it is not coalesced.
  Result<void> take_fact(const WatchFact& fact);
  /// Decides the present moment, writes until nothing is left to write, and runs every deadline
  /// before `time`; that is the present then. kForever: until no deadline is left.
  Result<void> run_to(LogTime time);

  /// While paused moments are decided but nothing is written.
  enum class Planning : std::uint8_t { on, paused };
  void set_planning(Planning planning) {
    if (planning == Planning::on && planning_ == Planning::paused) decided_ = false;
    planning_ = planning;
  }

  const State& state() const { return state_; }
  LogTime now() const { return now_; }
  const std::vector<PlannedWrite>& writes() const { return writes_; }

 private:
  Result<std::vector<Event>> commit(std::vector<EventDraft> drafts);
  Result<void> advance_to(LogTime time);
  Result<void> decide();
  Result<void> answer(const Event& intent);
  Result<void> come_back(const PatchIntended& intent, Seq seq, const std::string& uid);
  Result<void> member_applies(const std::string& name, Seq seq);
  Result<void> goes(const PatchIntended& intent, Seq seq, const std::string& uid);

  const VirtualPorts ports_;
  const Feedback feedback_;
  State state_;
  Planner planner_{state_};
  Touched touched_;
  Ingest ingest_;
  Coalescer coalescer_;
  LogTime now_;
  bool decided_ = false;  ///< nothing has happened since the last decision
  Planning planning_ = Planning::on;
  std::vector<PlannedWrite> writes_;
};

}  // namespace fairlead
