// Objects that a what-if does not reach, because an annotation sets the changed setting otherwise.
// Internal to the what-if.
//
//   fairlead.io/debounce.NAME of a claim in force   debounce.NAME, for the claim's cluster
//   fairlead.io/multikueue.NAME of an AdmissionCheck   multikueue.NAME, for its worker list
//   fairlead.io/quota-from of a ClusterQueue that follows its workers   capacity.overbookPercent
//     (fairlead.io/quota-percent, or 100, counts instead)
//   fairlead.io/pool-policy of a tenant's Namespace   pool.policy
//   fairlead.io/pool-limit of a VirtualCluster   pool.tenantLimit
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/fold/state.h"

namespace fairlead {

/// An annotation that kept a changed setting from an object, and when it did.
struct Override {
  std::string setting;  ///< as `--set` names it
  SourceName source;    ///< the API server that has the object
  ObjectKey object;
  std::string annotation;
  std::string value;            ///< of the annotation, as written
  std::optional<Seq> since;     ///< the event that began it; none: where the worlds part
  std::optional<LogTime> from;  ///< of that event
  std::optional<Seq> until;     ///< the event that ended it; none: to the end
  std::optional<LogTime> to;    ///< of that event
};

/// Finds overrides in one walk over history: after each folded event it examines the objects that
/// the event is about.
class Overrides {
 public:
  using Reconfigure = std::function<Result<Configuration>(const Configuration& actual)>;

  explicit Overrides(Reconfigure reconfigure) : reconfigure_(std::move(reconfigure)) {}
  /// Examines the state in which the worlds part. Fails as the reconfiguration does.
  Result<void> begin(const State& history);
  Result<void> consumed(const Event& event, const State& history);
  /// Ordered by beginning, then by object.
  const std::vector<Override>& found() const { return found_; }

 private:
  using Names = std::map<std::string, std::pair<std::string, std::string>>;  ///< by setting
  using Place = std::pair<SourceName, ObjectKey>;

  Result<void> compare_configurations(const State& history, const Event* event);
  void look_at_everything(const State& history, const Event* event);
  void look_at_queues(const State& history, const Event* event);
  void look_at_claims(const State& history, const std::string& name, const Event* event);
  void look_at_pool(const State& history, const Event* event);
  void look_at(const ObjectKey& object, const State& history, const Event* event);
  void look_at(const Place& place, const State& history, const Event* event);
  Names of_object(const Place& place, const State& history) const;
  Names of_claim(const State& history, const std::string& name) const;
  Names of_check(const State& history, const std::string& name) const;
  Names of_queue(const State& history, const std::string& name) const;
  Names of_tenant_namespace(const State& history, const Place& place) const;
  Names of_virtual_cluster(const State& history, const ObjectKey& object) const;

  Reconfigure reconfigure_;
  Configuration actual_, counterfactual_;
  std::map<std::string, std::string> clusters_;               ///< that claims name
  std::map<Place, std::map<std::string, std::size_t>> open_;  ///< indices in found_
  std::vector<Override> found_;
};

}  // namespace fairlead
