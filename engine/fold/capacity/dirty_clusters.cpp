#include "engine/fold/capacity/dirty_clusters.h"

#include "engine/fold/cluster_state.h"

namespace fairlead {

Cluster& mark_capacity_dirty(ClusterMarks state, const std::string& name) {
  Cluster& cluster = state.clusters[name];
  if (cluster.observation.changed) return cluster;  // what changed it has marked it
  if (state.dirty_clusters.insert(name).second) {
    cluster.observation = {};
    cluster.observation.eligible_before = cluster.eligible_nodes;
    cluster.observation.pool.eligible_before = cluster.pool.eligible_nodes;
    *cluster.only_capacity = true;
  }
  return cluster;
}

Cluster& mark_cluster_dirty(ClusterMarks state, const std::string& name) {
  Cluster& cluster = mark_capacity_dirty(state, name);
  *cluster.only_capacity = false;
  return cluster;
}

}  // namespace fairlead
