#include "engine/fold/capacity/pool_capacity.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/pool/super_clusters.h"

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

NodeSize size_of(const State& state, const NodeRecord& node) {
  NodeSize size;
  for_each_canonical(node.facts.allocatable, state.configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       if (amount > 0) size.emplace_back(resource, amount);
                     });
  std::sort(size.begin(), size.end());
  return size;
}

}  // namespace

void set_pool_terms(const State& state, const std::string& name, Cluster& cluster) {
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

void add_to_pool(const State& state, Cluster& cluster, const NodeRecord& node, int sign,
                 Seq cause) {
  cluster.pool.eligible_nodes += sign;
  if (sign > 0)
    cluster.pool.largest->add(size_of(state, node));
  else
    cluster.pool.largest->remove(size_of(state, node));
  for_each_canonical(node.facts.allocatable, state.configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       CapacityValue& value = cluster.pool.values[std::string(resource)].capacity;
                       value.offered += sign * Int128{amount};
                       if (!node.suppressed) value.growing += sign * Int128{amount};
                       remember_change(value, cause);
                     });
}

void grow_pool(const State& state, Cluster& cluster, const NodeRecord& node) {
  for_each_canonical(node.facts.allocatable, state.configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       cluster.pool.values[std::string(resource)].capacity.growing += amount;
                     });
}

void note_pool_cordon(const State& state, Cluster& cluster, const NodeRecord& node) {
  if (!cluster.pool.offered) return;
  PoolObservation& seen = cluster.observation.pool;
  for_each_canonical(node.facts.allocatable, state.configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       seen.at_once.emplace(resource);
                       if (node.counted.in_pool) seen.cordoned[std::string(resource)] += amount;
                     });
  if (node.counted.in_pool) ++seen.cordoned_nodes;
}

std::optional<std::vector<NodeSize>> largest_nodes_of(const State& state, Cluster& cluster) {
  if (!cluster.source || *cluster.source == CapacitySource::managed_cluster) return std::nullopt;
  LargestNodes& largest = *cluster.pool.largest;
  if (largest.is_outdated()) {
    largest.begin();
    const bool by_nodes = *cluster.source == CapacitySource::nodes;
    const auto& nodes = by_nodes ? cluster.reports.nodes : cluster.reports.metrics_nodes;
    for (const auto* entry : std::as_const(nodes).sorted())
      if (entry->second.counted.in_pool) largest.add(size_of(state, entry->second));
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
  ClusterPool& pool = cluster.pool;
  const bool first = !pool.valued;
  if (first) {
    pool.valued = true;
    pool.first_valued = pool.last_changed = now;
  }
  for (auto& [resource, value] : pool.values) {
    value.whole = usable_hundredths(value.capacity.offered, resource, headroom);
    const Amount usable =
        part_of_pool(cluster, usable_amount(value.capacity.offered, resource, headroom));
    const Amount growing =
        part_of_pool(cluster, usable_amount(value.capacity.growing, resource, headroom));
    DampedValue& damped = value.capacity.damped;
    if (!damped.high.empty() && usable == damped.usable && growing == damped.growing) continue;
    if (damped.high.empty() && !first) damped.observe(LogTime{0}, 0, 0);  // it was not there
    damped.observe(now, usable, growing);
    pool.last_changed = now;
  }
}

void update_pool_liveness(Cluster& cluster, Liveness is, const DebounceSettings& settings,
                          LogTime now) {
  ClusterPool& pool = cluster.pool;
  const bool was_lost = pool.liveness == Liveness::lost;
  if (is == pool.liveness || (was_lost && is == Liveness::stale)) return;
  if (is == Liveness::live) {
    for (auto& [resource, value] : pool.values) value.capacity.damped.begin_anew(now);
    pool.first_valued = pool.last_changed = now;
  }
  if (is == Liveness::lost) {
    pool.lost_since = now;
    pool.counted_again_at.reset();
  } else if (was_lost) {
    pool.lost_since.reset();
    pool.counted_again_at = now + settings.grow_window;
  }
  pool.liveness = is;
}

void accept_first_of_pool(Cluster& cluster, const DebounceSettings& settings, LogTime now) {
  ClusterPool& pool = cluster.pool;
  if (!pool.valued || pool.liveness != Liveness::live) return;
  const FirstValues which = first_values(pool.first_valued, pool.last_changed, now, settings);
  if (which == FirstValues::wait) return;
  for (auto& [resource, value] : pool.values) {
    value.capacity.damped.accept_first(which, now, settings);
    value.capacity.moved = now;
  }
  pool.known = true;
}

// A hold stops every value that no cordon of this moment moves: its falls, because the loss is in
// doubt, and its growth, because the cluster's sums are. A cordoned resource falls at once and does
// not grow. step_values (cluster_close.cpp) does the same for claims and sets `held_by` to `frozen`
// for a growth that the hold keeps back: from that follows `grew_by`, which `why` reports of values
// that belong to claims. Nothing reports it of the pool's values, and no value depends on it, so it
// is not set here.
void step_pool(Cluster& cluster, const DebounceSettings& settings, LogTime now) {
  const bool live = cluster.pool.liveness == Liveness::live;
  const PoolObservation& seen = cluster.observation.pool;
  for (auto& [resource, value] : cluster.pool.values) {
    const bool at_once = seen.at_once.contains(resource);
    if (cluster.hold && !at_once) continue;
    const Growth growth = live && !cluster.hold ? Growth::allowed : Growth::frozen;
    if (value.capacity.damped.step(now, settings, quantum_of(resource),
                                   at_once ? Fall::at_once : Fall::damped, growth))
      value.capacity.moved = now;
  }
}

LogTime next_pool_deadline(const Cluster& cluster, const DebounceSettings& settings, LogTime now) {
  const ClusterPool& pool = cluster.pool;
  LogTime next = kForever;
  const auto consider = [&](LogTime when) {
    if (when > now) next = std::min(next, when);
  };
  if (!pool.offered || !pool.valued || pool.liveness == Liveness::lost) return next;
  if (!pool.known) {
    if (pool.liveness != Liveness::live) return next;
    consider(pool.last_changed + settings.first_quiet);
    consider(pool.first_valued + settings.grow_window);
    return next;
  }
  if (cluster.hold) {
    consider(cluster.hold->since + settings.mass_shrink_hold);
    return next;
  }
  for (const auto& [resource, value] : pool.values)
    consider(value.capacity.damped.next_deadline(now, settings));
  return next;
}

}  // namespace fairlead
