#include "engine/fold/capacity/pool_capacity.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/damped_set.h"
#include "engine/fold/cluster_state.h"

namespace fairlead {

namespace {

// Source: k8s.io/api core/v1 Toleration.ToleratesTaint.
bool tolerates(const PoolToleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return !toleration.key.empty() && toleration.value == taint.value;
}

bool keeps_out_of_pool(const PoolSettings& settings, const Taint& taint) {
  return taint.effect != "PreferNoSchedule" &&
         std::none_of(settings.tolerations.begin(), settings.tolerations.end(),
                      [&](const PoolToleration& each) { return tolerates(each, taint); });
}

NodeSize size_of(const Configuration& configuration, const NodeRecord& node) {
  NodeSize size;
  for_each_canonical(node.facts.allocatable, configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       if (amount > 0) size.emplace_back(resource, amount);
                     });
  std::sort(size.begin(), size.end());
  return size;
}

using PoolValues = DampedSet<std::map<std::string, PoolValue>>;
PoolValues pool_values_of(ClusterPool& pool) {
  return {pool.values,
          {&pool.valued, pool.known, pool.first_valued, pool.last_changed, pool.liveness}};
}

// What the pool's part decides otherwise than other sets.
struct PoolRules : SetRules {
  const Cluster& cluster;

  explicit PoolRules(const Cluster& of) : cluster(of) { awaits_first = !of.pool.known; }
  std::optional<FallCause> ordered(const std::string& resource) const {
    return cluster.observation.pool.at_once.contains(resource) ? std::optional(FallCause::cordon)
                                                               : std::nullopt;
  }
};

}  // namespace

const PoolCluster* pool_entry_of(const PoolSettings& settings, const std::string& member) {
  const PoolCluster* all = nullptr;
  for (const PoolCluster& entry : settings.clusters) {
    if (entry.name == member) return &entry;
    if (entry.name == "*") all = &entry;
  }
  return all;
}

void set_pool_terms(StateView<const Configuration, const LogPosition> state,
                    const std::string& name, Cluster& cluster) {
  const PoolCluster* const entry = pool_entry_of(state.configuration.pool, name);
  ClusterPool& pool = cluster.pool;
  const bool offers = entry && pool.member;
  pool.percent = offers ? entry->percent : 0;
  if (offers == pool.offered) return;
  ClusterPool anew;
  anew.member = pool.member;
  anew.offered = offers;
  anew.percent = pool.percent;
  anew.first_seen = state.now;
  // The liveness of the stream does not depend on the offer. Reset, a loss would begin anew, and
  // with it pool.lostGrace.
  anew.liveness = pool.liveness;
  anew.lost_since = pool.lost_since;
  anew.counted_again_at = pool.counted_again_at;
  pool = std::move(anew);
  // Layer 3 judges a super cluster in hundredths of a unit.
  if (cluster.hold)
    for (auto& [resource, before] : cluster.hold->before)
      before = offers ? saturate(Int128{before} * 100) : before / 100;
}

CanonicalHeadroom pool_headroom_of(const Configuration& configuration, const std::string& name) {
  const PoolCluster* const entry = pool_entry_of(configuration.pool, name);
  Configuration own;
  own.resource_aliases = configuration.resource_aliases;
  own.headroom = configuration.headroom;
  if (entry && entry->headroom_percent) own.headroom.percent = *entry->headroom_percent;
  if (entry && entry->headroom_reserved) own.headroom.reserved = *entry->headroom_reserved;
  return headroom_of(own, nullptr);
}

bool is_eligible_for_pool(const PoolSettings& settings, const NodeFacts& node) {
  return node.ready && !node.unschedulable &&
         std::none_of(node.taints.begin(), node.taints.end(),
                      [&](const Taint& taint) { return keeps_out_of_pool(settings, taint); });
}

void add_to_pool(const Configuration& configuration, Cluster& cluster, const NodeRecord& node,
                 int sign, Seq cause) {
  cluster.pool.eligible_nodes += sign;
  if (sign > 0)
    cluster.pool.largest->add(size_of(configuration, node));
  else
    cluster.pool.largest->remove(size_of(configuration, node));
  for_each_canonical(node.facts.allocatable, configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       CapacityValue& value = cluster.pool.values[std::string(resource)].capacity;
                       value.offered += sign * Int128{amount};
                       if (!node.suppressed) value.growing += sign * Int128{amount};
                       remember_change(value, cause);
                     });
}

void grow_pool(const Configuration& configuration, Cluster& cluster, const NodeRecord& node) {
  for_each_canonical(node.facts.allocatable, configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       cluster.pool.values[std::string(resource)].capacity.growing += amount;
                     });
}

void note_pool_cordon(const Configuration& configuration, Cluster& cluster,
                      const NodeRecord& node) {
  if (!cluster.pool.offered) return;
  PoolObservation& seen = cluster.observation.pool;
  for_each_canonical(node.facts.allocatable, configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       seen.at_once.emplace(resource);
                       if (node.counted.in_pool) seen.cordoned[std::string(resource)] += amount;
                     });
  if (node.counted.in_pool) ++seen.cordoned_nodes;
}

std::optional<std::vector<NodeSize>> largest_nodes_of(const Configuration& configuration,
                                                      Cluster& cluster) {
  if (!cluster.source || *cluster.source == CapacitySource::managed_cluster) return std::nullopt;
  LargestNodes& largest = *cluster.pool.largest;
  if (largest.is_outdated()) {
    largest.begin();
    const bool by_nodes = *cluster.source == CapacitySource::nodes;
    const auto& nodes = by_nodes ? cluster.reports.nodes : cluster.reports.metrics_nodes;
    for (const auto* entry : std::as_const(nodes).sorted())
      if (entry->second.counted.in_pool) largest.add(size_of(configuration, entry->second));
  }
  return largest.sizes();
}

void clear_pool_sums(Cluster& cluster) {
  *cluster.pool.largest = {};
  cluster.pool.eligible_nodes = 0;
  for (auto& [resource, value] : cluster.pool.values)
    value.capacity.offered = value.capacity.growing = 0;
}

void add_totals_to_pool(Cluster& cluster) {
  if (!cluster.pool.offered) return;
  for (const auto& [resource, amount] : cluster.reports.totals) {
    CapacityValue& value = cluster.pool.values[resource].capacity;
    value.offered = value.growing = amount;
    remember_change(value, cluster.presence.managed_seq);
  }
}

// Both halves round down, so that rest_for_claims(u) + part_of_pool(u) never exceeds u: a unit that
// falls between them is lost, not promised twice. Claims take their half of each flavor's usable
// amount, the pool its part of one sum over all its nodes; rounding the terms of a sum down one by
// one never gives more than rounding the sum down, so this holds for the sums too, where both count
// the same nodes with the same headroom.
Amount rest_for_claims(const Cluster& cluster, Amount usable) {
  if (cluster.pool.percent == 0) return usable;
  return saturate(Int128{usable} * (100 - cluster.pool.percent) / 100);
}

Amount part_of_pool(const Cluster& cluster, Amount usable) {
  return saturate(Int128{usable} * cluster.pool.percent / 100);
}

Int128 usable_hundredths(Int128 offered, std::string_view resource,
                         const CanonicalHeadroom& headroom) {
  for (const CanonicalHeadroom::Row& row : headroom.rows)
    if (row.resource == resource)
      return std::max(Int128{0}, offered * (100 - row.percent) - Int128{row.reserved} * 100);
  return std::max(Int128{0}, offered * 100);
}

bool pool_falls(const Cluster& cluster, const CanonicalHeadroom& headroom) {
  return std::any_of(
      cluster.pool.values.begin(), cluster.pool.values.end(), [&](const auto& entry) {
        return usable_hundredths(entry.second.capacity.offered, entry.first, headroom) <
               entry.second.whole;
      });
}

void measure_pool(Cluster& cluster, const CanonicalHeadroom& headroom, LogTime now) {
  for (auto& [resource, value] : cluster.pool.values)
    value.whole = usable_hundredths(value.capacity.offered, resource, headroom);
  PoolValues values = pool_values_of(cluster.pool);
  const auto changes = values.changes([&](const std::string& resource, const PoolValue& value) {
    const auto part = [&](Int128 offered) {
      return part_of_pool(cluster, usable_amount(offered, resource, headroom));
    };
    return std::pair(part(value.capacity.offered), part(value.capacity.growing));
  });
  values.measure(changes, now);
}

void update_pool_liveness(Cluster& cluster, Liveness is, const DebounceSettings& settings,
                          LogTime now) {
  ClusterPool& pool = cluster.pool;
  const bool was_lost = pool.liveness == Liveness::lost;
  if (was_lost && is == Liveness::stale) return;
  if (!pool_values_of(pool).set_liveness(is, now)) return;
  if (is == Liveness::lost) {
    pool.lost_since = now;
    pool.counted_again_at.reset();
  } else if (was_lost) {
    pool.lost_since.reset();
    pool.counted_again_at = now + settings.grow_window;
  }
}

void close_pool(Cluster& cluster, const DebounceSettings& settings, FallCause lets_fall,
                LogTime now) {
  PoolRules rules(cluster);
  rules.lets_fall = lets_fall;
  pool_values_of(cluster.pool).close(now, settings, pool_gate_of(cluster), rules);
}

Gate pool_gate_of(const Cluster& cluster) {
  Gate gate;
  if (cluster.pool.liveness != Liveness::live) gate.growth = Growth::frozen;
  if (cluster.hold) gate.held_since = cluster.hold->since;
  return gate;
}

LogTime next_pool_deadline(Cluster& cluster, const DebounceSettings& settings, LogTime now) {
  if (!cluster.pool.offered) return kForever;
  return pool_values_of(cluster.pool)
      .next_deadline(now, settings, pool_gate_of(cluster), PoolRules(cluster));
}

}  // namespace fairlead
