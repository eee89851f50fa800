#include "engine/fold/capacity/node_count.h"

#include <string>
#include <vector>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/pool_capacity.h"

namespace fairlead {

namespace {

void add_to(CapacityValue& value, Int128 amount, bool growing, Seq seq) {
  value.offered += amount;
  if (growing) value.growing += amount;
  remember_change(value, seq);
}

// Whether the lane is for this flavor and these resources in this order.
bool is_lane_of(const SumLane& lane, const std::string& flavor, const ResourceAmounts& amounts) {
  if (lane.sums.size() != amounts.size() || lane.flavor != flavor) return false;
  auto resource = lane.resources.begin();
  for (const auto& [observed, amount] : amounts)
    if (*resource++ != observed) return false;
  return true;
}

// Null where an alias is among them: an alias and its canonical name must be added up first.
const SumLane* lane_of(const State& state, Cluster& cluster, const std::string& flavor,
                       const ResourceAmounts& amounts) {
  std::vector<SumLane>& lanes = *cluster.lanes;
  for (const SumLane& lane : lanes)
    if (is_lane_of(lane, flavor, amounts)) return &lane;
  if (has_alias(amounts, state.configuration.resource_aliases)) return nullptr;
  if (lanes.size() == kSumLanesMax) lanes.clear();
  SumLane& lane = lanes.emplace_back(SumLane{flavor, {}, {}});
  for (const auto& [resource, amount] : amounts) {
    lane.resources.emplace_back(resource);
    // The pointer stays valid: the map keeps its nodes, and a rule that erases a key empties the
    // lanes.
    lane.sums.push_back(&cluster.capacity[{flavor, lane.resources.back()}]);
  }
  return &lane;
}

void add_amounts(const State& state, Cluster& cluster, const std::string& flavor,
                 const ResourceAmounts& amounts, Sign sign, bool growing, Seq seq) {
  const auto signed_amount = [sign](Amount amount) {
    return sign == Sign::plus ? Int128{amount} : -Int128{amount};
  };
  if (const SumLane* lane = lane_of(state, cluster, flavor, amounts)) {
    auto sum = lane->sums.begin();
    for (const auto& [resource, amount] : amounts)
      add_to(**sum++, signed_amount(amount), growing, seq);
    return;
  }
  for (const auto& [resource, amount] :
       canonical_amounts(amounts, state.configuration.resource_aliases))
    add_to(cluster.capacity[{flavor, resource}], signed_amount(amount), growing, seq);
}

}  // namespace

// A node is taken out of the sums by the record that put it in: neither its facts nor `counted` nor
// `suppressed` may change in between, unless the sums change with it (grow_pool, release_flapping).
void add_eligible(const State& state, Cluster& cluster, const NodeRecord& node, Sign sign,
                  Seq cause) {
  if (node.counted.in_pool) add_to_pool(state, cluster, node, sign == Sign::plus ? 1 : -1, cause);
  if (!node.counted.eligible) return;
  cluster.eligible_nodes += sign == Sign::plus ? 1 : -1;
  add_amounts(state, cluster, node.counted.flavor, node.facts.allocatable, sign, !node.suppressed,
              cause);
}

void count_for_flavor(const State& state, Cluster& cluster, NodeRecord& node, Seq cause) {
  node.counted.eligible = is_eligible(node.facts, node.counted.flavor, state.flavors.by_name);
  node.counted.in_pool =
      cluster.pool.offered && is_eligible_for_pool(state.configuration.pool, node.facts);
  add_eligible(state, cluster, node, Sign::plus, cause);
}

void count_node(const State& state, Cluster& cluster, NodeRecord& node, Seq cause) {
  const std::string& flavor = winning_flavor(node.facts.labels, state.flavors.by_name);
  node.counted.flavor = flavor;
  if (!flavor.empty()) {
    ++cluster.flavor_nodes[flavor];
    cluster.observation.won.insert(flavor);
  }
  count_for_flavor(state, cluster, node, cause);
}

void uncount_node(const State& state, Cluster& cluster, const NodeRecord& node, Seq cause) {
  if (!node.counted.flavor.empty()) --cluster.flavor_nodes[node.counted.flavor];
  add_eligible(state, cluster, node, Sign::minus, cause);
}

}  // namespace fairlead
