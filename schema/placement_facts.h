// Projected facts of OCM's Placements: what they prefer, what they selected, and the scores.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/time.h"

namespace fairlead {

/// An AddOn prioritizer of a Placement; the built-in prioritizers are not used.
struct ScorePrioritizer {
  std::string resource_name;  ///< of the AddOnPlacementScore
  std::string score_name;
  std::int64_t weight = 1;

  friend auto operator<=>(const ScorePrioritizer&, const ScorePrioritizer&) = default;
};

/// cluster.open-cluster-management.io Placement.
struct PlacementFacts {
  std::vector<ScorePrioritizer> prioritizers;  ///< sorted
  bool deleting = false;

  friend bool operator==(const PlacementFacts&, const PlacementFacts&) = default;
};

/// cluster.open-cluster-management.io PlacementDecision: one shard of what a Placement selected.
struct PlacementDecisionFacts {
  std::string placement;              ///< label cluster.open-cluster-management.io/placement
  std::vector<std::string> clusters;  ///< sorted, each once, without empty names

  friend bool operator==(const PlacementDecisionFacts&, const PlacementDecisionFacts&) = default;
};

/// cluster.open-cluster-management.io AddOnPlacementScore; its namespace is the cluster.
struct AddOnPlacementScoreFacts {
  std::map<std::string, std::int64_t> scores;
  std::optional<LogTime> valid_until;

  friend bool operator==(const AddOnPlacementScoreFacts&,
                         const AddOnPlacementScoreFacts&) = default;
};

}  // namespace fairlead
