#include "engine/fold/capacity/node_count.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/pool_capacity.h"
#include "engine/fold/cluster_state.h"

namespace fairlead {

namespace {

void add_to(CapacityValue& value, Int128 amount, bool growing, Seq seq) {
  value.offered += amount;
  if (growing) value.growing += amount;
  remember_change(value, seq);
}

// Whether the lane is for this kind and these resources in this order.
bool is_lane_of(const SumLane& lane, std::uint32_t kind, const ResourceAmounts& amounts) {
  if (lane.kind != kind || lane.sums.size() != amounts.size()) return false;
  auto resource = lane.resources.begin();
  for (const auto& [observed, amount] : amounts)
    if (*resource++ != observed) return false;
  return true;
}

// The key that a node of these flavors adds to; nullopt if it does not count for the resource.
std::optional<CapacityKey> key_of(StateView<const FlavorTables> state,
                                  const std::vector<NodeFlavor>& flavors,
                                  std::string_view resource) {
  const NodeFlavor& flavor = flavors[state.flavors.candidates.of(resource)];
  if (!flavor.eligible) return std::nullopt;
  return CapacityKey{flavor.name, std::string(resource)};
}

// Null where an alias is among them: an alias and its canonical name must be added up first.
const SumLane* lane_of(NodeReader state, Cluster& cluster, std::uint32_t kind,
                       const ResourceAmounts& amounts) {
  std::vector<SumLane>& lanes = *cluster.lanes;
  for (const SumLane& lane : lanes)
    if (is_lane_of(lane, kind, amounts)) return &lane;
  if (has_alias(amounts, state.configuration.resource_aliases)) return nullptr;
  if (lanes.size() == kSumLanesMax) lanes.clear();
  SumLane& lane = lanes.emplace_back(SumLane{kind, {}, {}});
  const std::vector<NodeFlavor>& flavors = cluster.kinds[kind - 1].flavors;
  for (const auto& [resource, amount] : amounts) {
    lane.resources.emplace_back(resource);
    const auto key = key_of(state, flavors, resource);
    // The pointer stays valid: the map keeps its nodes, and a rule that erases a key empties the
    // lanes.
    lane.sums.push_back(key ? &cluster.capacity[*key] : nullptr);
  }
  return &lane;
}

void add_amounts(NodeReader state, Cluster& cluster, const NodeRecord& node, Sign sign, Seq seq) {
  const auto signed_amount = [sign](Amount amount) {
    return sign == Sign::plus ? Int128{amount} : -Int128{amount};
  };
  const ResourceAmounts& amounts = node.facts.allocatable;
  const bool growing = !node.suppressed;
  // Nodes of one kind with the same resources share a lane, which spares them a lookup per
  // resource.
  if (const SumLane* lane = lane_of(state, cluster, node.counted.kind, amounts)) {
    auto sum = lane->sums.begin();
    for (const auto& [resource, amount] : amounts)
      if (CapacityValue* const value = *sum++) add_to(*value, signed_amount(amount), growing, seq);
    return;
  }
  for (const auto& [resource, amount] :
       canonical_amounts(amounts, state.configuration.resource_aliases))
    if (const auto key = key_of(state, flavors_of(cluster, node), resource))
      add_to(cluster.capacity[*key], signed_amount(amount), growing, seq);
}

// Counts the node as one of the kind with these flavors, which is made if there is none. Nothing
// else refers to a kind without nodes, so another kind may take its place.
void join_kind(Cluster& cluster, NodeRecord& node, std::vector<NodeFlavor> flavors) {
  std::vector<NodeKind>& kinds = cluster.kinds;
  auto place = std::find_if(kinds.begin(), kinds.end(),
                            [&](const NodeKind& kind) { return kind.flavors == flavors; });
  if (place == kinds.end()) {
    place = std::find_if(kinds.begin(), kinds.end(),
                         [](const NodeKind& kind) { return kind.nodes == 0; });
    if (place == kinds.end()) place = kinds.insert(place, NodeKind{});
    place->flavors = std::move(flavors);
    const auto number = static_cast<std::uint32_t>(place - kinds.begin()) + 1;
    std::erase_if(*cluster.lanes, [&](const SumLane& lane) { return lane.kind == number; });
  }
  node.counted.kind = static_cast<std::uint32_t>(place - kinds.begin()) + 1;
  node.counted.eligible = std::any_of(place->flavors.begin(), place->flavors.end(),
                                      [](const NodeFlavor& flavor) { return flavor.eligible; });
  if (++place->nodes == 1) cluster.observation.kinds.insert(node.counted.kind);
}

void count_as(NodeReader state, Cluster& cluster, NodeRecord& node, std::vector<NodeFlavor> flavors,
              Seq cause) {
  join_kind(cluster, node, std::move(flavors));
  node.counted.in_pool =
      cluster.pool.offered && is_eligible_for_pool(state.configuration.pool, node.facts);
  add_eligible(state, cluster, node, Sign::plus, cause);
}

}  // namespace

// A node is taken out of the sums by the record that put it in: neither its facts nor `counted` nor
// `suppressed` may change in between, unless the sums change with it (grow_pool, release_flapping).
void add_eligible(NodeReader state, Cluster& cluster, const NodeRecord& node, Sign sign,
                  Seq cause) {
  if (node.counted.in_pool)
    add_to_pool(state.configuration, cluster, node, sign == Sign::plus ? 1 : -1, cause);
  if (!node.counted.eligible) return;
  cluster.eligible_nodes += sign == Sign::plus ? 1 : -1;
  add_amounts(state, cluster, node, sign, cause);
}

void count_node(NodeReader state, Cluster& cluster, NodeRecord& node, Seq cause) {
  count_as(state, cluster, node, winning_flavors(node.facts, state.flavors), cause);
}

void count_for_flavors(NodeReader state, Cluster& cluster, NodeRecord& node, Seq cause) {
  std::vector<NodeFlavor> flavors = flavors_of(cluster, node);
  for (NodeFlavor& flavor : flavors)
    flavor.eligible = is_eligible(node.facts, flavor.name, state.flavors.by_name);
  count_as(state, cluster, node, std::move(flavors), cause);
}

void leave_kind(Cluster& cluster, const CountedNode& counted) {
  if (counted.kind != 0) --cluster.kinds[counted.kind - 1].nodes;
}

void uncount_node(NodeReader state, Cluster& cluster, const NodeRecord& node, Seq cause) {
  add_eligible(state, cluster, node, Sign::minus, cause);
  leave_kind(cluster, node.counted);
}

}  // namespace fairlead
