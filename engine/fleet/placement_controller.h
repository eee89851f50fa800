// Plays OCM's placement controller: writes the clusters that each Placement selects.
//
// It knows predicates by label, AddOn prioritizers with weights, and numberOfClusters. As in OCM, a
// missing score counts 0, of equal sums the first name wins, and a decision lists its clusters by
// name.
// A cluster with a taint of the effect NoSelect is not selected.
// Not played: built-in prioritizers, tolerations, cluster sets, decision groups, more than 100
// clusters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"

namespace fairlead {

/// A cluster that a Placement may select, with its scores on the hub by
/// `<AddOnPlacementScore>/<score>`.
struct PlacementCandidate {
  std::string name;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::int64_t> scores;
};

/// Returns the sum of weight x score over the Placement's AddOn prioritizers.
std::int64_t placement_score(const Json& placement, const PlacementCandidate& candidate);
/// Returns the clusters that `placement` selects among `candidates`, by name.
std::vector<std::string> select_clusters(const Json& placement,
                                         const std::vector<PlacementCandidate>& candidates);

/// Owned by one thread.
class PlacementController {
 public:
  PlacementController(model::SharedModel& hub, FleetLogger logger)
      : hub_(hub, "placement"), logger_(std::move(logger)) {}

  /// Decides again if any object has changed, at most once a second.
  void look(LogTime now);
  std::uint64_t writes() const { return writes_; }

 private:
  std::vector<PlacementCandidate> candidates() const;
  void decide(const Json& placement, const std::vector<PlacementCandidate>& candidates);
  void write(const std::string& placement, const std::vector<std::string>& clusters);

  Api hub_;
  const FleetLogger logger_;
  std::map<std::string, std::vector<std::string>> decided_;
  std::uint64_t seen_ = 0;
  LogTime next_look_;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
