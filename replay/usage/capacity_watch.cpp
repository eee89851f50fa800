#include "replay/usage/capacity_watch.h"

#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/usage/queue_use.h"

namespace fairlead {

namespace {

// The nodes of the source in force.
const NameTable<NodeRecord>* counted_nodes(const Cluster& cluster) {
  if (!cluster.source) return nullptr;
  switch (*cluster.source) {
    case CapacitySource::nodes: return &cluster.reports.nodes;
    case CapacitySource::cluster_metrics: return &cluster.reports.metrics_nodes;
    case CapacitySource::managed_cluster: return nullptr;
  }
  return nullptr;
}

// What a node would offer to flavors that it is not eligible for.
std::map<CapacityKey, Int128> down_of_node(const State& state, const Cluster& cluster,
                                           const NodeRecord& node) {
  std::map<CapacityKey, Int128> down;
  if (node.counted.kind == 0) return down;
  const NodeKind& kind = cluster.kinds.at(node.counted.kind - 1);
  const auto add = [&](const std::string& resource, Amount amount) {
    const std::uint32_t set = state.flavors.candidates.of(resource);
    if (set >= kind.flavors.size()) return;
    const NodeFlavor& flavor = kind.flavors.at(set);
    if (!flavor.name.empty() && !flavor.eligible && amount != 0)
      down[{flavor.name, resource}] += milli_units(resource, amount);
  };
  for (const auto& [resource, amount] :
       canonical_amounts(node.facts.allocatable, state.configuration.resource_aliases))
    add(resource, amount);
  return down;
}

}  // namespace

void CapacityWatch::note(const Event& event) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  const auto* gone = std::get_if<ObjectGone>(&event.fact);
  const ObjectKey* const key = seen ? &seen->key : gone ? &gone->key : nullptr;
  if (key == nullptr) return;
  if (key->kind == Kind::node) touched_.emplace(event.source, key->name);
  if (key->kind == Kind::cluster_metrics) relisted_.insert(key->name);
}

void CapacityWatch::move(const std::string& cluster, const std::string& node, Amounts now) {
  Amounts& sum = down_[cluster];
  Amounts& before = down_of_[cluster][node];
  for (const auto& [key, amount] : before) sum[key] -= amount;
  for (const auto& [key, amount] : now) sum[key] += amount;
  if (now.empty())
    down_of_[cluster].erase(node);
  else
    before = std::move(now);
}

void CapacityWatch::count_node(const State& state, const std::string& cluster,
                               const std::string& node) {
  const auto at = state.clusters.find(cluster);
  const auto* const nodes = at == state.clusters.end() ? nullptr : counted_nodes(at->second);
  const NodeRecord* const record = nodes ? nodes->find(node) : nullptr;
  move(cluster, node, record ? down_of_node(state, at->second, *record) : Amounts());
}

bool CapacityWatch::counts_by(const State& state) const {
  return terms_ && terms_->candidates == state.flavors.candidates &&
         terms_->flavors == state.flavors.by_name && terms_->gone == state.flavors.gone &&
         terms_->aliases == state.configuration.resource_aliases;
}

void CapacityWatch::count_nodes(const State& state, const std::string& cluster) {
  down_of_[cluster].clear();
  for (auto& [key, amount] : down_[cluster]) amount = 0;
  const auto at = state.clusters.find(cluster);
  const auto* const nodes = at == state.clusters.end() ? nullptr : counted_nodes(at->second);
  if (nodes == nullptr) return;
  for (const auto* entry : nodes->sorted())
    move(cluster, entry->first, down_of_node(state, at->second, entry->second));
}

void CapacityWatch::compare(const State& state, const std::string& cluster,
                            std::vector<UsageCapacityChange>& out) {
  std::map<CapacityKey, std::pair<Int128, Int128>> now;
  const auto at = state.clusters.find(cluster);
  if (at != state.clusters.end() && at->second.known)
    for (const auto& [key, value] : at->second.capacity)
      now[key].first = milli_units(key.resource, value.damped.accepted);
  for (const auto& [key, amount] : down_[cluster]) now[key].second = amount;
  auto& before = reported_[cluster];
  for (const auto& [key, amounts] : before) now.try_emplace(key);
  for (const auto& [key, amounts] : now)
    if (const auto [known, added] = before.try_emplace(key); known->second != amounts) {
      known->second = amounts;
      out.push_back({cluster, key.flavor, key.resource, amounts.first, amounts.second});
    }
}

// Most events of a cluster are no reason to count its nodes again: they are thousands, and only
// their own events, another source and other flavors change what they count as.
std::vector<UsageCapacityChange> CapacityWatch::changes(const State& state, const DirtySet& dirty) {
  std::set<std::string> clusters = dirty.clusters;
  for (const auto* more : {&dirty.capacities, &dirty.accepted})
    clusters.insert(more->begin(), more->end());
  const bool anew = dirty.everything || (!clusters.empty() && !counts_by(state));
  if (anew) {
    const FlavorTables& flavors = state.flavors;
    terms_ = Terms{flavors.by_name, flavors.gone, flavors.candidates,
                   state.configuration.resource_aliases};
    for (const auto& [name, cluster] : state.clusters) clusters.insert(name);
    for (const auto& [name, values] : reported_) clusters.insert(name);
  }
  const std::set<std::string> relisted = std::exchange(relisted_, {});
  std::set<std::string> counted;
  for (const std::string& name : clusters) {
    const auto at = state.clusters.find(name);
    const auto source = at == state.clusters.end() ? std::nullopt : at->second.source;
    if (std::exchange(source_of_[name], source) == source && !anew && !relisted.contains(name))
      continue;
    count_nodes(state, name);
    counted.insert(name);
  }
  for (const auto& [cluster, node] : std::exchange(touched_, {})) {
    if (!counted.contains(cluster)) count_node(state, cluster, node);
    clusters.insert(cluster);
  }
  std::vector<UsageCapacityChange> out;
  for (const std::string& cluster : clusters) compare(state, cluster, out);
  return out;
}

}  // namespace fairlead
