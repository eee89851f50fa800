// Projected facts of the kinds that say which nodes a quota is of.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schema/taints.h"

namespace fairlead {

/// kueue.x-k8s.io ResourceFlavor.
struct ResourceFlavorFacts {
  std::map<std::string, std::string> node_labels;
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
  std::string topology_name;

  friend bool operator==(const ResourceFlavorFacts&, const ResourceFlavorFacts&) = default;
};

/// kueue.x-k8s.io Topology: the labels by which the nodes of a flavor are told apart, from the
/// outermost level in.
struct TopologyFacts {
  std::vector<std::string> levels;  ///< spec.levels[].nodeLabel

  friend bool operator==(const TopologyFacts&, const TopologyFacts&) = default;
};

}  // namespace fairlead
