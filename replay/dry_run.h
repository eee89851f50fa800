// A dry run: the engine over given objects and changes, in virtual time, without a cluster.
//
// `fairlead plan` runs it, with the same ingest, log, fold and plan as the hub. Time advances from
// input line to input line and from deadline to deadline. Everything at one time is ingested before
// anything is written; writes are assumed to be accepted and come back as observations, unless
// feedback is switched off. Where nominations need a MutatingAdmissionPolicy and the lines hold
// none of that kind, ours is assumed to exist: manifests seldom hold it, and a plan should show
// what the dispatcher does.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kube/document/object_input.h"
#include "engine/log/event_log.h"
#include "replay/virtual_hub.h"

namespace fairlead {

struct DryRunOptions {
  Configuration configuration;
  Feedback feedback = Feedback::assumed;
  std::optional<LogTime>
      until;  ///< time runs to here; later lines are not read. None: until no deadline is left
};

/// Runs once over its lines. Afterwards the log holds every event of the run.
class DryRun {
 public:
  DryRun(EventLog& log, DryRunOptions options);

  /// Processes the lines, in order of time, and runs to the end.
  Result<void> run(const std::vector<InputLine>& lines);

  const std::vector<PlannedWrite>& writes() const { return hub_.writes(); }
  const State& state() const { return hub_.state(); }
  /// Every object that was written and still exists, in its final form, by (cluster, apiVersion,
  /// kind, namespace, name).
  using ObjectId = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  const std::map<ObjectId, Json>& written_objects() const { return written_; }

 private:
  using Key = std::pair<std::string, ObjectKey>;

  VirtualPorts ports();
  Result<void> begin(LogTime at);
  bool assumes_clearing_policy(const std::vector<InputLine>& lines) const;
  Result<void> assume_clearing_policy();
  Result<void> apply_line(const InputLine& line);
  Result<void> apply_control(const InputLine& line);
  void keep_object(const PatchIntended& intent, const std::string& uid, const std::string& version);
  void forget_object(const PatchIntended& intent);
  void remember_input(const InputLine& line);

  EventLog& log_;
  const DryRunOptions options_;
  VirtualHub hub_;
  std::map<Key, std::string> versions_;       ///< newest resourceVersion of each object
  std::map<Key, std::string> line_versions_;  ///< newest resourceVersion of each in a line
  std::map<Key, Json> objects_;               ///< current form
  std::map<ObjectId, Json> written_;
};

/// Merges `applied` into `live` as server-side apply would (conditions by type, admission checks by
/// name, finalizers as a set, every other list whole).
Json merge_applied(Json live, const Json& applied);

}  // namespace fairlead
