#include "engine/fold/capacity/capacity_reasons.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/devices/tolerance.h"
#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/capacity/node_count.h"
#include "engine/fold/cluster_state.h"

namespace fairlead {

namespace {

constexpr std::size_t kReasonsNamed = 3;

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

}  // namespace

std::vector<std::string> reasons_against(const FlavorTables& flavors, const NodeFacts& node,
                                         const NodeFlavor& counted, const CapacityKey& pair) {
  if (counted.name.empty())
    return {flavors.candidates.of(pair.resource) == 0
                ? "no ResourceFlavor matches its labels"
                : "no flavor that a queue or a claim has with " + pair.resource +
                      " matches its labels"};
  std::vector<std::string> reasons;
  if (counted.name != pair.flavor)
    reasons.push_back(
        (counted.eligible ? "counts for flavor " : "of flavor ") + counted.name +
        (flavor_exists(flavors, pair.flavor) ? "" : "; " + pair.flavor + " does not exist"));
  if (!node.ready) reasons.emplace_back("NotReady");
  if (node.unschedulable) reasons.emplace_back("cordoned");
  const auto winner = flavors.by_name.find(counted.name);
  for (const Taint& taint : node.taints)
    if (winner != flavors.by_name.end() && keeps_out(taint, winner->second))
      reasons.push_back("taint " + text(taint));
  return reasons;
}

std::string why_no_node_counts(StateView<const FlavorTables> state, const Cluster& cluster,
                               const CapacityKey& pair) {
  if (!cluster.source || *cluster.source == CapacitySource::managed_cluster) return {};
  const auto& nodes = *cluster.source == CapacitySource::nodes ? cluster.reports.nodes
                                                               : cluster.reports.metrics_nodes;
  if (nodes.empty()) return "the cluster has no nodes";
  const auto value = cluster.capacity.find(pair);
  if (value != cluster.capacity.end() && value->second.offered > 0) return {};
  std::map<std::string, std::size_t> counts;  // by reason
  for (const auto* entry : nodes.sorted()) {
    const NodeRecord& node = entry->second;
    const NodeFlavor& counted = flavor_for(state, cluster, node, pair.resource);
    if (counted.eligible && counted.name == pair.flavor) return {};
    ++counts[joined(reasons_against(state.flavors, node.facts, counted, pair), ", ")];
  }
  // The most frequent reason comes first, equal ones by text: a condition must not change while its
  // facts stay.
  std::vector<std::pair<std::string, std::size_t>> most(counts.begin(), counts.end());
  std::sort(most.begin(), most.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> named;
  for (const auto& [reason, count] : most)
    if (named.size() < kReasonsNamed) named.push_back(reason + " (" + std::to_string(count) + ")");
  if (most.size() > kReasonsNamed)
    named.push_back(std::to_string(most.size() - kReasonsNamed) + " other reasons");
  return "0 of " + std::to_string(nodes.size()) + " nodes count: " + joined(named, ", ");
}

std::string held_losses(const Cluster& cluster) {
  std::map<std::string, Int128> usable;
  const Amount unit = cluster.pool.offered ? 100 : 1;  // hundredths (ClusterPool)
  for (const auto& [resource, value] : cluster.pool.values) usable[resource] = value.whole / unit;
  if (!cluster.pool.offered) {
    usable.clear();
    for (const auto& [key, value] : cluster.capacity) usable[key.resource] += value.damped.usable;
  }
  std::string text;
  for (const auto& [resource, before] : cluster.hold->before)
    if (usable[resource] < before / unit)
      text += (text.empty() ? "" : ", ") + resource + " " + amount_text(resource, before / unit) +
              " to " + amount_text(resource, usable[resource]);
  return text;
}

}  // namespace fairlead
