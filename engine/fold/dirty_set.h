// What closed moments leave to the planner.
//
// merge and empty are made of the struct's fields, and everything_in (engine/plan/plan.cpp) names
// them all in one binding: a set that one of them lacks does not compile.
#pragma once

#include <set>
#include <string>

#include "engine/fold/pool/pool_state.h"

namespace fairlead {

/// What changed since it was last emptied: the planner derives these objects and no others.
struct DirtySet {
  std::set<std::string> clusters;
  /// Clusters where only what the nodes offer may have changed: no write follows from that alone
  /// (docs/decisions/0032-a-flip-plans-nothing.md).
  std::set<std::string> capacities;
  /// The clusters of `capacities` whose accepted values moved: their claims' resources and the
  /// numbers in their claims' statuses may follow. Grants that moved with them are in `claims`.
  std::set<std::string> accepted;
  std::set<std::string> claims;
  std::set<std::string> queues;
  std::set<std::string> placements;  ///< whose worker lists
  std::set<std::string> workers;     ///< MultiKueueClusters, by name
  std::set<std::string> checks;      ///< AdmissionChecks
  std::set<NamespacedName> workloads;
  std::set<NamespacedName> fleet_claims;
  std::set<NamespacedName> fleet_schedulings;
  std::set<PoolNamespaceKey> pool_namespaces;
  std::set<PoolPodKey> pool_pods;
  bool everything = false;

  void merge(const DirtySet& other);
  bool empty() const;
};

}  // namespace fairlead
