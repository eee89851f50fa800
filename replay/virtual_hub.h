// The hub's engine in virtual time, with assumed answers instead of API servers.
//
// Dry runs and what-ifs share it: the same ingest, coalescing, fold and plan as the hub. Time
// advances from one input to the next deadline; everything at one time is ingested before anything
// is written; a write is assumed to be accepted and comes back as an observation, unless feedback
// is switched off.
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

/// The callbacks of a VirtualHub. All but `append` may be empty.
struct VirtualPorts {
  /// Numbers and stores the drafts of one moment, as EventLog::append does.
  std::function<Result<std::vector<Event>>(std::vector<EventDraft>, LogTime)> append;
  /// Returns the newest resourceVersion of an object, for its next write; empty: the one in State.
  std::function<std::string(const std::string& cluster, const ObjectKey& key)> newest_version;
  /// Called when a write was accepted, with its uid and resourceVersion.
  std::function<void(const PatchIntended&, const std::string& uid, const std::string& version)>
      accepted;
  /// Called when a write removed its object.
  std::function<void(const PatchIntended&)> gone;
  /// Called when a moment closed and was planned; `touched` is what changed since the call before.
  std::function<void(const State&, const Touched&)> decided;
};

/// Numbers the drafts of one moment behind `last` and advances it: an `append` that stores nothing.
std::vector<Event> numbered(std::vector<EventDraft> drafts, LogTime at, Seq& last);

class VirtualHub {
 public:
  /// From a state, at its time.
  VirtualHub(VirtualPorts ports, Feedback feedback, State start = {});

  /// Appends drafts that do not come from a watch. `at` never decreases between calls.
  Result<void> tell(LogTime at, std::vector<EventDraft> drafts);
  /// Offers a fact of a stream at the present moment to coalescing and ingest. Returns false if it
  /// is older than what is known.
  Result<bool> offer(WatchFact fact);
  /// Ingests a fact without coalescing, for example a bookmark.
  Result<void> take_fact(const WatchFact& fact);
  /// Closes the present moment, writes until nothing is left to write, and runs every deadline
  /// before `time`, which becomes the present. kForever: until no deadline is left.
  Result<void> run_to(LogTime time);

  /// While paused, moments close but nothing is written.
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
