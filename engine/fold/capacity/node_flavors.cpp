#include "engine/fold/capacity/node_flavors.h"

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/cluster_state.h"

namespace fairlead {

const std::vector<NodeFlavor>& flavors_of(const Cluster& cluster, const NodeRecord& node) {
  static const std::vector<NodeFlavor> nowhere;
  return node.counted.kind == 0 ? nowhere : cluster.kinds[node.counted.kind - 1].flavors;
}

const NodeFlavor& flavor_for(StateView<const FlavorTables> state, const Cluster& cluster,
                             const NodeRecord& node, std::string_view resource) {
  static const NodeFlavor none;
  const std::vector<NodeFlavor>& flavors = flavors_of(cluster, node);
  return flavors.empty() ? none : flavors[state.flavors.candidates.of(resource)];
}

}  // namespace fairlead
