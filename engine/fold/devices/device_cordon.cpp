#include "engine/fold/devices/device_cordon.h"

#include "engine/devices/node_reach.h"
#include "engine/fold/capacity/node_flavors.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_capacity.h"
#include "engine/fold/devices/pool_offer.h"

namespace fairlead {

namespace {

std::set<DevicePoolKey> pools_on(const DeviceIndex& index, const std::string& node) {
  std::set<DevicePoolKey> pools;
  if (const auto at = index.pools_of_node.find(node); at != index.pools_of_node.end())
    for (const DevicePoolKey* key : at->second) pools.insert(*key);
  if (const auto at = index.tallied.find(node); at != index.tallied.end())
    for (const ReachTally* tally : at->second.in)
      pools.insert(tally->pools.begin(), tally->pools.end());
  return pools;
}

// The keys that devices of `node` alone count for while it is eligible. It may have been out of
// service before it was cordoned, and its fall be damped: the cordon ends that.
void add_keys(CountReader state, Cluster& cluster, const DevicePoolKey& key,
              const std::string& node, const NodeRecord& record, std::set<CapacityKey>& keys) {
  const DeviceIndex& index = *cluster.device_capacity.index;
  std::string why;
  for (const auto* entry : cluster.device_capacity.pools.at(key).index->slices) {
    const ResourceSliceFacts& slice = *entry->second.facts;
    for (const DeviceFacts& device : slice.devices) {
      const NodeReach& reach = reach_of(slice, device);
      if (reach.kind != NodeReachKind::node || reach.node != node) continue;
      if (!is_healthy(cluster, slice, device)) continue;
      for (const DeviceResource& resource : index.resources)
        if (match(resource, key.driver, device, why) == DeviceMatch::yes)
          if (const NodeFlavor& flavor = flavor_for(state, cluster, record, resource.resource);
              !flavor.name.empty())
            keys.insert({flavor.name, resource.resource});
    }
  }
}

}  // namespace

// What is marked is counted first, so that the difference between this and conclude_device_cordon()
// is what the cordon alone took.
DeviceCordon begin_device_cordon(CountReader state, Cluster& cluster, const std::string& node) {
  DeviceCordon cordon;
  if (!cluster.device_capacity.published || !state.configuration.dra.quota) return cordon;
  count_devices(state, cluster);
  const DeviceIndex& index = *cluster.device_capacity.index;
  const auto& nodes = cluster.source == CapacitySource::cluster_metrics
                          ? cluster.reports.metrics_nodes
                          : cluster.reports.nodes;
  const NodeRecord* record = nodes.find(node);
  for (const DevicePoolKey& key : pools_on(index, node)) {
    const auto pool = cluster.device_capacity.pools.find(key);
    if (pool == cluster.device_capacity.pools.end()) continue;
    cordon.before[key] = *pool->second.sums;
    if (record) add_keys(state, cluster, key, node, *record, cordon.keys);
  }
  return cordon;
}

void conclude_device_cordon(CountReader state, Cluster& cluster, const DeviceCordon& cordon) {
  if (cordon.before.empty()) return;
  count_devices(state, cluster);
  Observation& seen = cluster.observation;
  seen.at_once.insert(cordon.keys.begin(), cordon.keys.end());
  for (const auto& [key, sums] : cordon.before) {
    const auto pool = cluster.device_capacity.pools.find(key);
    for (const auto& [at, was] : sums) {
      DeviceSum is;
      if (pool != cluster.device_capacity.pools.end())
        if (const auto now = pool->second.sums->find(at); now != pool->second.sums->end())
          is = now->second;
      if (is.offered >= was.offered) continue;
      seen.at_once.insert(at);
      seen.cordoned[at] += was.offered - is.offered;
    }
  }
}

}  // namespace fairlead
