// A driver of the core in virtual time, with assumed answers instead of API servers.
//
// Dry runs and what-ifs share it. Time advances from one input to the next deadline; everything at
// one time is ingested before anything is written; a write is assumed to be accepted and comes back
// as an observation, unless feedback is switched off.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/core/core.h"
#include "engine/log/event_log.h"

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
  /// Called when a moment closed and was planned; `dirty` is what changed since the call before.
  std::function<void(const State&, const DirtySet&)> decided;
};

/// Numbers the drafts of one moment behind `last` and advances it: an `append` that stores nothing.
std::vector<Event> numbered(std::vector<EventDraft> drafts, LogTime at, Seq& last);

class VirtualHub {
 public:
  /// From a state, at its time.
  VirtualHub(VirtualPorts ports, Feedback feedback, State start = {});

  /// Appends drafts that do not come from a watch. `at` never decreases between calls.
  Result<void> append(LogTime at, std::vector<EventDraft> drafts);
  /// Offers a fact of a stream at the present moment to coalescing and ingest. Returns false if it
  /// is older than what is known.
  Result<bool> offer(WatchFact fact);
  /// Closes the present moment, writes until nothing is left to write, and runs every deadline
  /// before `time`, which becomes the present. kForever: until no deadline is left.
  Result<void> run_to(LogTime time);

  /// While paused, moments close but nothing is written.
  void set_planning(Planning planning) { core_.set_planning(planning); }

  const State& state() const { return core_.state(); }
  LogTime now() const { return now_; }
  const std::vector<PlannedWrite>& writes() const { return writes_; }

 private:
  Result<void> drive(Input input);
  Result<void> append(Append append);
  Result<void> propose(std::vector<EventDraft> drafts);
  void carry_versions(std::vector<EventDraft>& intents) const;
  Result<void> answer(const Event& intent);
  Result<void> come_back(const PatchIntended& intent, Seq seq, const std::string& uid);
  Result<void> member_applies(const std::string& name, Seq seq);
  Result<void> goes(const PatchIntended& intent, Seq seq, const std::string& uid);

  const VirtualPorts ports_;
  const Feedback feedback_;
  Core core_{in_virtual_time()};
  LogTime now_;
  std::vector<PlannedWrite> writes_;
};

}  // namespace fairlead
