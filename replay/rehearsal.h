// A rehearsal: the engine over given objects and changes, in virtual time, without a cluster.
//
// It is what `fairlead plan` runs: the same ingest, log, fold and plan as the hub. Time goes from
// line to line and from deadline to deadline. Everything at one time is taken in before anything is
// written; writes are taken as accepted and come back as observations, unless feedback is switched
// off.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kube/object_input.h"
#include "engine/ingest/coalescer.h"
#include "engine/ingest/ingest.h"
#include "engine/log/event_log.h"
#include "engine/plan/plan.h"

namespace fairlead {

/// Whether writes are answered.
enum class Feedback : std::uint8_t { assumed, none };

struct RehearsalOptions {
  Configuration configuration;
  Feedback feedback = Feedback::assumed;
  std::optional<LogTime>
      until;  ///< time runs to here; later lines are not read. None: until no deadline is left
};

/// One write of the plan: the logged intent with its place and time.
struct PlannedWrite {
  Seq seq;
  LogTime time;
  PatchIntended intent;
};

/// Runs once over its lines. The log is left holding every event of the run.
class Rehearsal {
 public:
  Rehearsal(EventLog& log, RehearsalOptions options);

  /// Takes the lines, in order of time, and runs to the end.
  Result<void> run(const std::vector<InputLine>& lines);

  const std::vector<PlannedWrite>& writes() const { return writes_; }
  const State& state() const { return state_; }
  /// Every object that was written and is still there, as it stands: (cluster, apiVersion, kind,
  /// namespace, name) -> object.
  using ObjectId = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  const std::map<ObjectId, Json>& written_objects() const { return written_; }

 private:
  using Key = std::pair<std::string, ObjectKey>;

  Result<std::vector<Event>> commit(std::vector<EventDraft> drafts);
  Result<void> begin(LogTime at);
  Result<void> advance_to(LogTime time);
  Result<void> take_line(const InputLine& line);
  Result<void> take_fact(const WatchFact& fact);
  Result<void> take_control(const InputLine& line);
  Result<void> decide();
  Result<void> answer(const Event& intent);
  Result<void> come_back(const PatchIntended& intent, Seq seq, const std::string& uid);
  void keep_object(const PatchIntended& intent, const std::string& uid, const std::string& version);
  void remember_input(const InputLine& line);

  EventLog& log_;
  RehearsalOptions options_;
  State state_;
  Touched touched_;
  Ingest ingest_;
  Coalescer coalescer_;
  LogTime now_;
  bool decided_ = false;                 ///< nothing has happened since the last decision
  std::map<Key, std::string> versions_;  ///< newest resourceVersion of each object
  std::map<Key, Json> objects_;          ///< as they stand
  std::map<ObjectId, Json> written_;
  std::vector<PlannedWrite> writes_;
};

/// The objects that a write leaves: `applied` merged into `live` as server-side apply would
/// (conditions by type, finalizers as a set, every other list whole).
Json merge_applied(Json live, const Json& applied);

}  // namespace fairlead
