#include "engine/fold/devices/counted_flavor.h"

#include <algorithm>

#include "engine/devices/node_reach.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/node_flavors.h"
#include "engine/fold/claims/claim_spec.h"
#include "engine/fold/cluster_state.h"

namespace fairlead {

namespace {

const NameTable<NodeRecord>& counted_nodes(const Cluster& cluster) {
  return cluster.source == CapacitySource::cluster_metrics ? cluster.reports.metrics_nodes
                                                           : cluster.reports.nodes;
}

// A node whose own allocatable has the resource has a device plugin: its number counts, and devices
// that reach only it do not. Source: kube-scheduler's noderesources.
bool offers_itself(const Configuration& configuration, const NodeRecord& node,
                   const std::string& resource) {
  const auto has = [&node](const std::string& spelled) {
    return node.facts.allocatable.find(spelled).value_or(0) > 0;
  };
  if (has(resource)) return true;
  const ResourceAliases& aliases = configuration.resource_aliases;
  return std::any_of(aliases.begin(), aliases.end(), [&](const auto& alias) {
    return alias.second == resource && has(alias.first);
  });
}

NodeClass class_of(const Configuration& configuration, const Cluster& cluster,
                   const NodeRecord& node) {
  const DeviceIndex& index = *cluster.device_capacity.index;
  NodeClass made{flavors_of(cluster, node), !node.suppressed, {}};
  for (const DeviceResource& each : index.resources)
    if (offers_itself(configuration, node, each.resource)) made.own.insert(each.resource);
  return made;
}

// Selectors by their content: equal ones share a tally.
std::string text_of(const NodeReach& reach) {
  std::string text;
  const auto put = [&text](const std::string& part) {
    // With its length in front, no two lists of parts have the same text.
    text += std::to_string(part.size());
    text += ':';
    text += part;
  };
  const auto put_all = [&](char kind, const std::vector<NodeRequirement>& requirements) {
    for (const NodeRequirement& each : requirements) {
      text += kind;
      put(each.key);
      put(each.op);
      for (const std::string& value : each.values) put(value);
      text += ';';
    }
  };
  if (reach.kind == NodeReachKind::all) return "all";
  for (const NodeSelectorTerm& term : reach.selector.terms) {
    text += '|';
    put_all('e', term.expressions);
    put_all('f', term.fields);
  }
  return text;
}

// Returns whether it was the last of its class.
bool drop_from_tally(ReachTally& tally, const NodeClass& as) {
  // The class is the one under which count_in() counted the node: it is remembered with the tally.
  const auto at = tally.nodes.find(as);
  if (--at->second > 0) return false;
  tally.nodes.erase(at);
  return true;
}

// Counts a node, if the tally's reach includes it. Returns whether it is the first of its class.
bool count_in(CountReader state, Cluster& cluster, ReachTally& tally, const std::string& name,
              const NodeRecord& node) {
  if (!node.counted.eligible || !reaches(tally.reach, name, node.facts.labels)) return false;
  TalliedNode& tallied = cluster.device_capacity.index->tallied[name];
  if (tallied.in.empty()) tallied.as = class_of(state.configuration, cluster, node);
  tallied.in.push_back(&tally);
  return ++tally.nodes[tallied.as] == 1;
}

void note_tally(CountReader state, Cluster& cluster, const NodeReach& reach,
                const DevicePoolKey& pool, DevicePoolIndex& noted) {
  DeviceIndex& index = *cluster.device_capacity.index;
  const auto [at, made] = index.tallies.try_emplace(text_of(reach));
  if (at->second.pools.insert(pool).second) noted.tallies.push_back(&at->second);
  if (!made) return;
  at->second.reach = reach;
  for (const auto* entry : counted_nodes(cluster).sorted())
    count_in(state, cluster, at->second, entry->first, entry->second);
}

void note_reach_of(CountReader state, Cluster& cluster, const ResourceSliceFacts& slice,
                   const DevicePoolKey& pool, DevicePoolIndex& noted) {
  DeviceIndex& index = *cluster.device_capacity.index;
  for (const DeviceFacts& device : slice.devices) {
    const NodeReach& reach = reach_of(slice, device);
    switch (reach.kind) {
      case NodeReachKind::none:
      case NodeReachKind::devices: break;
      case NodeReachKind::node: {
        const auto at = index.pools_of_node.try_emplace(reach.node).first;
        if (std::find(at->second.begin(), at->second.end(), &pool) != at->second.end()) break;
        at->second.push_back(&pool);
        noted.nodes.push_back(&at->first);
        break;
      }
      case NodeReachKind::selector:
      case NodeReachKind::all: note_tally(state, cluster, reach, pool, noted); break;
    }
    if (slice.reach.kind != NodeReachKind::devices) return;  // one reach for all of its devices
  }
}

// Adds a class of nodes to those that a device is on. The device counts under the flavor that wins
// the resource of them.
void meet(const FlavorTables& flavors, CountedFlavor& counts, const NodeClass& nodes,
          const std::string& resource) {
  const NodeFlavor& flavor = nodes.flavors[flavors.candidates.of(resource)];
  if (!flavor.eligible || nodes.own.contains(resource)) return;
  if (counts.where == CountedFlavor::Where::nowhere)
    counts = {CountedFlavor::Where::flavor, flavor.name, nodes.growing};
  else if (counts.flavor != flavor.name)
    // Neither flavor may have it: both queues would promise the same device.
    counts.where = CountedFlavor::Where::ambiguous;
  counts.growing |= nodes.growing;
}

}  // namespace

CountedFlavor counted_flavor(CountReader state, const Cluster& cluster, const NodeReach& reach,
                             const std::string& resource) {
  CountedFlavor counts;
  // Totals have no flavors, and no node is known.
  if (cluster.source == CapacitySource::managed_cluster)
    return {CountedFlavor::Where::flavor, "", true};
  switch (reach.kind) {
    case NodeReachKind::none:
    case NodeReachKind::devices: return counts;
    case NodeReachKind::node: {
      const NodeRecord* node = counted_nodes(cluster).find(reach.node);
      if (!node || offers_itself(state.configuration, *node, resource)) return counts;
      if (const NodeFlavor& flavor = flavor_for(state, cluster, *node, resource); flavor.eligible)
        counts = {CountedFlavor::Where::flavor, flavor.name, !node->suppressed};
      return counts;
    }
    case NodeReachKind::selector:
    case NodeReachKind::all: break;
  }
  // note_reach() has made the tally: pools are counted after it (prepare).
  for (const auto& [nodes, count] : cluster.device_capacity.index->tallies.at(text_of(reach)).nodes)
    meet(state.flavors, counts, nodes, resource);
  return counts;
}

void tally_node(CountReader state, Cluster& cluster, const std::string& name,
                std::set<DevicePoolKey>& pools) {
  DeviceIndex& index = *cluster.device_capacity.index;
  if (const auto at = index.pools_of_node.find(name); at != index.pools_of_node.end())
    for (const DevicePoolKey* key : at->second) pools.insert(*key);
  if (index.tallies.empty()) return;
  // The flavor depends on which classes of nodes a tally has, not on how many nodes are of each.
  const auto changed = [&pools](const ReachTally& tally) {
    pools.insert(tally.pools.begin(), tally.pools.end());
  };
  if (const auto before = index.tallied.find(name); before != index.tallied.end()) {
    for (ReachTally* tally : before->second.in)
      if (drop_from_tally(*tally, before->second.as)) changed(*tally);
    index.tallied.erase(before);
  }
  if (const NodeRecord* node = counted_nodes(cluster).find(name))
    for (auto& [text, tally] : index.tallies)
      if (count_in(state, cluster, tally, name, *node)) changed(tally);
}

// A pool and what it reaches know each other by pointers, so that it can be taken out without a
// search: to the pool's key, which stays until the pool is erased, and to the name of a node, which
// stays as long as a pool is noted there. Taken out first, a pool without slices leaves nothing
// behind.
void note_reach(CountReader state, Cluster& cluster, const DevicePoolKey& pool) {
  const auto known = cluster.device_capacity.pools.find(pool);
  if (known == cluster.device_capacity.pools.end()) return;
  const auto& [key, of] = *known;
  DeviceIndex& index = *cluster.device_capacity.index;
  DevicePoolIndex& noted = *known->second.index;
  for (const std::string* node : noted.nodes) {
    const auto pools = index.pools_of_node.find(*node);
    std::erase(pools->second, &key);
    if (pools->second.empty()) index.pools_of_node.erase(pools);
  }
  for (ReachTally* tally : noted.tallies) tally->pools.erase(key);
  noted.nodes.clear();
  noted.tallies.clear();
  for (const auto* entry : noted.slices)
    note_reach_of(state, cluster, *entry->second.facts, key, noted);
  if (!of.kept) return;
  for (const KeptSlice& kept : of.kept->slices)
    note_reach_of(state, cluster, *kept.facts, key, noted);
}

bool reaches_widely(const DeviceCapacityPart& part, const DevicePoolKey& pool) {
  const auto known = part.pools.find(pool);
  return known != part.pools.end() && !known->second.index->tallies.empty();
}

}  // namespace fairlead
