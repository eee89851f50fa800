#include "engine/fold/light_copy.h"

#include <utility>
#include <vector>

namespace fairlead {

namespace {

/// The nodes of one cluster, while they are aside.
struct NodesAside {
  ClusterReports& reports;
  NameTable<NodeRecord> nodes, metrics_nodes;
};

}  // namespace

std::size_t objects_in_copy(const State& state, const std::set<std::string>& clusters) {
  std::size_t objects = state.multikueue.workloads.size() + state.fleet.claims.size() +
                        state.queues.local.size() + state.writes.by_key.size();
  for (const auto& [name, cluster] : state.clusters) {
    const DeviceObjects& devices = cluster.devices;
    objects += cluster.member.local_queues.size() + cluster.member.workloads.size() +
               devices.slices.size() + devices.claims.size() + devices.pods.size();
    if (clusters.contains(name))
      objects += cluster.reports.nodes.size() + cluster.reports.metrics_nodes.size();
  }
  for (const auto& [name, tenant] : state.pool.tenants)
    for (const auto& [namespace_, known] : tenant.namespaces) objects += 1 + known.pods.size();
  return objects;
}

// The tables are moved, which leaves each entry where it is: what points to one stays good.
State copy_with_nodes_of(State& state, const std::set<std::string>& clusters) {
  std::vector<NodesAside> aside;
  for (auto& [name, cluster] : state.clusters)
    if (!clusters.contains(name))
      aside.push_back({cluster.reports, std::exchange(cluster.reports.nodes, {}),
                       std::exchange(cluster.reports.metrics_nodes, {})});
  State copy = state;
  for (NodesAside& of : aside) {
    of.reports.nodes = std::move(of.nodes);
    of.reports.metrics_nodes = std::move(of.metrics_nodes);
  }
  return copy;
}

}  // namespace fairlead
