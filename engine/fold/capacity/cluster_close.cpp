// Closes a moment of one cluster: debounce layers 1 to 3, liveness, the first value.
#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/damped_set.h"
#include "engine/fold/capacity/node_count.h"
#include "engine/fold/capacity/pool_capacity.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/deadlines.h"
#include "engine/fold/devices/device_capacity.h"
#include "engine/fold/dirty_set.h"

namespace fairlead {

namespace {

// Sums over flavors, for a few resources. The names view the keys of Cluster::capacity.
struct Totals {
  struct Row {
    std::string_view resource;
    Int128 sum;
  };
  std::vector<Row> rows;

  Amount of(std::string_view resource) const {
    for (const Row& row : rows)
      if (row.resource == resource) return saturate(row.sum);
    return 0;
  }
  std::map<std::string, Amount> to_map() const {
    std::map<std::string, Amount> map;
    for (const Row& row : rows) map.emplace(row.resource, saturate(row.sum));
    return map;
  }
};

// What the functions of one close of one cluster share.
struct Close {
  StateView<const Configuration, const FlavorTables, const HubStreams, const LogPosition> state;
  const std::string& name;
  Cluster& cluster;
  const DebounceSettings& settings;
  const CanonicalHeadroom& headroom;
  const CanonicalHeadroom& judged;  // of the capacity that layer 3 judges: the pool's, if there is
  LogTime now;
  bool accepted_moved = false;                     // by a step: nothing but numbers follows
  bool grants_follow = false;                      // from something else that changed
  bool totals_matter = false;                      // usable_totals may decide about a hold
  FallCause lets_fall = FallCause::shrink_window;  // of falls that no cordon or claim edit ordered
};

// What layer 3 judges: of a super cluster what the pool gets a part of.
Totals usable_totals(const Cluster& cluster) {
  Totals totals;
  if (cluster.pool.offered) {
    for (const auto& [resource, value] : cluster.pool.values)
      totals.rows.push_back({resource, value.whole});
    return totals;
  }
  totals.rows.reserve(cluster.capacity.size());
  for (const auto& [key, value] : cluster.capacity) {
    const auto row = std::find_if(totals.rows.begin(), totals.rows.end(),
                                  [&](const auto& each) { return each.resource == key.resource; });
    if (row == totals.rows.end())
      totals.rows.push_back({key.resource, value.damped.usable});
    else
      row->sum += value.damped.usable;
  }
  return totals;
}

// Layer 1: suppressions that end now count for growing again.
void release_flapping(Close& close) {
  Cluster& cluster = close.cluster;
  auto& nodes = cluster.source == CapacitySource::nodes ? cluster.reports.nodes
                                                        : cluster.reports.metrics_nodes;
  if (cluster.release_settings != close.settings) {
    cluster.release_settings = close.settings;
    for (auto* entry : cluster.flaps.sorted())
      schedule_release(cluster, entry->first, entry->second, close.settings);
  }
  while (!cluster.releases.empty() && cluster.releases.begin()->first <= close.now) {
    // A copy, because schedule_release() erases the entry. It adds none: release() has ended the
    // suppression, so the loop ends.
    const std::string name = cluster.releases.begin()->second;
    FlapPenalty& flap = cluster.flaps.at(name);
    flap.release(close.now, close.settings);
    schedule_release(cluster, name, flap, close.settings);
    NodeRecord* node = nodes.find(name);
    if (node == nullptr) continue;
    node->suppressed = false;
    note_node(cluster, name, close.state.seq);
    if (node->counted.in_pool) grow_pool(close.state.configuration, cluster, *node);
    if (!node->counted.eligible) continue;
    for_each_canonical(node->facts.allocatable, close.state.configuration.resource_aliases,
                       [&](std::string_view resource, Amount amount) {
                         const NodeFlavor& flavor =
                             flavor_for(close.state, cluster, *node, resource);
                         if (flavor.eligible)
                           cluster.capacity[{flavor.name, std::string(resource)}].growing += amount;
                       });
  }
}

bool totals_in_force(const Cluster& cluster) {
  return cluster.source == CapacitySource::managed_cluster;
}

// The cluster waits for its first value: it is new, or its source reports flavors where totals were
// accepted, or totals where flavors were.
bool settling(const Cluster& cluster) {
  return !cluster.known || cluster.totals_accepted != totals_in_force(cluster);
}

bool belongs_to_source(const Cluster& cluster, const CapacityKey& key) {
  return key.flavor.empty() == totals_in_force(cluster);
}

using ClusterValues = DampedSet<std::map<CapacityKey, CapacityValue>>;
ClusterValues cluster_values_of(Cluster& cluster) {
  return {cluster.capacity,
          {&cluster.valued, cluster.known, cluster.first_valued, cluster.last_changed,
           cluster.liveness_at_close}};
}

// The bound of a pair applies from the moment on in which its flavor won the resource of a first
// node and kept one. Only pairs with a resource that is used are mapped: no other is assigned.
void map_pairs(Close& close) {
  Cluster& cluster = close.cluster;
  for (const std::uint32_t number : cluster.observation.kinds) {
    const NodeKind& kind = cluster.kinds[number - 1];
    if (kind.nodes == 0) continue;
    for (const auto& [resource, set] : close.state.flavors.candidates.set_of)
      if (const std::string& flavor = kind.flavors[set].name; !flavor.empty())
        close.grants_follow |= cluster.mapped.insert({flavor, resource}).second;
  }
}

// Feeds what the nodes offer now to the step functions. Returns the totals before, where
// update_hold may need them: something fell, everything is gone, or a loss is held already.
Totals measure(Close& close) {
  Cluster& cluster = close.cluster;
  const bool has_value = cluster.source == CapacitySource::nodes ||
                         (cluster.source == CapacitySource::cluster_metrics &&
                          !cluster.reports.metrics_nodes.empty()) ||
                         (totals_in_force(cluster) && !cluster.reports.totals.empty());
  const ClusterPool& pool = cluster.pool;
  close.totals_matter =
      cluster.hold || (pool.offered ? pool.eligible_nodes : cluster.eligible_nodes) == 0;
  if (!has_value && !cluster.valued) return close.totals_matter ? usable_totals(cluster) : Totals{};
  // The changes are fed last: usable_totals() below has to read the values from before the moment.
  ClusterValues values = cluster_values_of(cluster);
  const auto changes = values.changes([&](const CapacityKey& key, const CapacityValue& value) {
    const auto usable_of = [&](Int128 offered) {
      return rest_for_claims(cluster, usable_amount(offered, key.resource, close.headroom));
    };
    const Amount usable = usable_of(value.offered);
    return std::pair(usable, value.growing == value.offered ? usable : usable_of(value.growing));
  });
  if (!pool.offered)
    for (const auto& change : changes) close.totals_matter |= change.usable < change.damped->usable;
  close.totals_matter |= pool.offered && pool_falls(cluster, close.judged);
  const Totals before = close.totals_matter ? usable_totals(cluster) : Totals{};
  values.measure(changes, close.now);
  if (pool.offered) measure_pool(cluster, close.judged, close.now);
  return before;
}

// An amount as usable_totals has it.
Amount judged_amount(const Close& close, Int128 offered, const std::string& resource,
                     const CanonicalHeadroom& headroom) {
  return close.cluster.pool.offered ? saturate(usable_hundredths(offered, resource, headroom))
                                    : usable_amount(offered, resource, headroom);
}

// A resource lost more than massShrinkPercent of `before`, not counting what cordons took.
bool mass_lost(const Close& close, Amount before, Amount after, Int128 cordoned) {
  const Int128 lost = Int128{before} - after - cordoned;
  return lost > 0 && lost * 100 > Int128{before} * close.settings.mass_shrink_percent;
}

bool shows_loss(const Close& close, const Totals& before, const Totals& after) {
  std::map<std::string_view, Int128> cordoned;
  CanonicalHeadroom percents = close.judged;
  // What is reserved is taken once from the whole. What cordoned nodes took along is less by the
  // percentage alone.
  for (CanonicalHeadroom::Row& row : percents.rows) row.reserved = 0;
  const Observation& seen = close.cluster.observation;
  if (close.cluster.pool.offered)
    for (const auto& [resource, amount] : seen.pool.cordoned)
      cordoned[resource] += judged_amount(close, amount, resource, percents);
  else
    for (const auto& [key, amount] : seen.cordoned)
      cordoned[key.resource] += judged_amount(close, amount, key.resource, percents);
  return std::any_of(before.rows.begin(), before.rows.end(), [&](const Totals::Row& row) {
    const auto cordon = cordoned.find(row.resource);
    return mass_lost(close, saturate(row.sum), after.of(row.resource),
                     cordon == cordoned.end() ? 0 : cordon->second);
  });
}

// The ManagedCluster confirms the loss: its allocatable of each fallen resource, after headroom, is
// no more than what is usable now.
bool second_opinion(const Close& close, const std::map<std::string, Amount>& before,
                    const Totals& after) {
  const Cluster& cluster = close.cluster;
  if (!cluster.presence.managed || totals_in_force(cluster)) return false;
  for (const auto& [resource, was] : before) {
    const Amount is = after.of(resource);
    if (is >= was) continue;
    const auto total = cluster.reports.totals.find(resource);
    if (total == cluster.reports.totals.end() ||
        judged_amount(close, total->second, resource, close.judged) > is)
      return false;
  }
  return true;
}

// Ends a hold, which lets fall what it held, and remembers `cause` as the deciding event.
void end_hold(Cluster& cluster, Seq cause) {
  for (auto& [key, value] : cluster.capacity)
    if (value.damped.accepted > value.damped.usable) remember_change(value, cause);
  for (auto& [resource, value] : cluster.pool.values)
    if (value.capacity.damped.accepted > value.capacity.damped.usable)
      remember_change(value.capacity, cause);
  cluster.hold.reset();
}

bool values_known(const Cluster& cluster) {
  return cluster.pool.offered ? cluster.pool.known : cluster.known;
}

// Layer 3: begins, confirms or ends a hold.
void update_hold(Close& close, const Totals& before, const Totals& after) {
  Cluster& cluster = close.cluster;
  const Observation& seen = cluster.observation;
  if (cluster.hold)  // it has held whatever falls now
    close.lets_fall = cluster.hold->since + close.settings.mass_shrink_hold <= close.now
                          ? FallCause::mass_shrink_hold
                          : FallCause::second_observation;
  // Only an observation of a later moment is a second one.
  const bool second = cluster.hold && seen.changed && cluster.hold->since < close.now;
  if (second)
    end_hold(cluster,
             seen.sign);  // the source reports the loss again, or no longer: both end the doubt
  if (cluster.hold && cluster.hold->since + close.settings.mass_shrink_hold <= close.now)
    cluster.hold.reset();

  const bool watches =
      close.settings.mass_shrink_percent > 0 && close.settings.mass_shrink_hold.ns > 0;
  if (!cluster.hold && !second && watches && seen.changed &&
      cluster.liveness_at_close == Liveness::live && values_known(cluster)) {
    const bool pool = cluster.pool.offered;
    // Without the nodes that were cordoned: an order of an administrator needs no second
    // observation.
    const std::int64_t eligible_others = pool ? seen.pool.eligible_before - seen.pool.cordoned_nodes
                                              : seen.eligible_before - seen.cordoned_nodes;
    const bool every_node =
        eligible_others > 0 && (pool ? cluster.pool.eligible_nodes : cluster.eligible_nodes) == 0;
    if (every_node || shows_loss(close, before, after))
      cluster.hold = Hold{close.now, before.to_map()};
  }
  if (cluster.hold && second_opinion(close, cluster.hold->before, after))
    end_hold(cluster, cluster.presence.managed_seq);
}

// Folds a change of liveness. When the source is live again growth waits for a whole window, and
// after a loss the hub does not count the cluster for as long.
void update_liveness(Close& close) {
  Cluster& cluster = close.cluster;
  update_pool_liveness(cluster, pool_liveness_of(close.state, cluster, close.settings),
                       close.settings, close.now);
  const Liveness is = liveness_of(close.state, cluster, close.settings);
  const bool was_lost = cluster.lost();
  if (!cluster_values_of(cluster).set_liveness(is, close.now)) return;
  if (was_lost) close.lets_fall = FallCause::source_back;
  // A lost cluster whose source becomes stale is not back: growWindow runs from the moment at which
  // it is live.
  if (is == Liveness::lost || (cluster.counted_again_at && is == Liveness::stale))
    cluster.counted_again_at = kForever;
  else if (cluster.counted_again_at)
    cluster.counted_again_at = close.now + close.settings.grow_window;
  cluster.liveness_at_close_seq = cluster.reports.liveness_seq;
  close.grants_follow = true;
}

// What a cluster decides otherwise than other sets.
struct ClusterRules : SetRules {
  Close& close;

  explicit ClusterRules(Close& of) : close(of) {
    const Cluster& cluster = of.cluster;
    awaits_first = settling(cluster);
    lets_fall = of.lets_fall;
    // While no flavor of the hub is known no node counts for one: zero would be accepted.
    may_be_first = totals_in_force(cluster) || !of.state.flavors.by_name.empty();
  }
  void begin_first() {
    Cluster& cluster = close.cluster;
    std::erase_if(cluster.capacity,
                  [&](const auto& entry) { return !belongs_to_source(cluster, entry.first); });
    cluster.lanes->clear();  // they point to the values that were erased
  }
  bool in_force(const CapacityKey& key) const { return belongs_to_source(close.cluster, key); }
  std::optional<FallCause> ordered(const CapacityKey& key) const {
    const Observation& seen = close.cluster.observation;
    if (seen.at_once_all) return FallCause::claim_edit;
    if (seen.at_once.contains(key)) return FallCause::cordon;
    return seen.moved.contains(key) ? std::optional(FallCause::flavor_use) : std::nullopt;
  }
  void accepted_first(CapacityValue& value) const {
    const Cluster& cluster = close.cluster;
    if (cluster.known && cluster.source_change)
      value.revalued = {*cluster.source_change, close.now};
  }
};

void close_values(Close& close) {
  Cluster& cluster = close.cluster;
  if (cluster.presence.detached) return;
  const Moved moved = cluster_values_of(cluster).close(close.now, close.settings, gate_of(cluster),
                                                       ClusterRules(close));
  close.accepted_moved |= moved.values;
  if (!moved.first) return;
  cluster.totals_accepted = totals_in_force(cluster);
  close.grants_follow = true;
}

LogTime next_deadline_of(Close& close) {
  Cluster& cluster = close.cluster;
  const DebounceSettings& settings = close.settings;
  LogTime next = kForever;
  const auto consider = [&](LogTime when) {
    if (when > close.now) next = std::min(next, when);
  };
  if (!cluster.releases.empty()) consider(cluster.releases.begin()->first);
  if (cluster.reports.unavailable_since)
    consider(*cluster.reports.unavailable_since + settings.lost_after);
  if (cluster.reports.unwatched_since)
    consider(*cluster.reports.unwatched_since + settings.lost_after);
  if (cluster.counted_again_at) consider(*cluster.counted_again_at);
  for (const auto& [queue, since] : cluster.member.deviating) consider(since);
  consider(next_pool_deadline(cluster, settings, close.now));
  consider(next_device_deadline(cluster));
  if (cluster.presence.detached) return next;
  // It ends whether or not a value waits for that: a first value does not.
  if (cluster.hold) consider(cluster.hold->since + settings.mass_shrink_hold);
  consider(cluster_values_of(cluster).next_deadline(close.now, settings, gate_of(cluster),
                                                    ClusterRules(close)));
  return next;
}

}  // namespace

Gate gate_of(const Cluster& cluster) {
  const ClusterReports& reports = cluster.reports;
  Gate gate;
  if (cluster.liveness_at_close != Liveness::live) gate.growth = Growth::frozen;
  gate.frozen_since =
      reports.unavailable_since ? reports.unavailable_since : reports.unwatched_since;
  if (cluster.hold) gate.held_since = cluster.hold->since;
  return gate;
}

LogTime still_since(const Cluster& cluster) {
  LogTime last;
  for (const auto& [key, value] : cluster.capacity) last = std::max(last, value.moved);
  return last;
}

Int128 accepted_total(const Cluster& cluster, const std::string& resource) {
  Int128 sum = 0;
  for (const auto& [key, value] : cluster.capacity)
    if (key.resource == resource && key.flavor.empty() == cluster.totals_accepted)
      sum += value.damped.accepted;
  return sum;
}

bool has_member(const Configuration& configuration, const Cluster& cluster) {
  switch (configuration.member_mode) {
    case MemberMode::automatic:
    case MemberMode::binding_policy: return cluster.presence.managed.has_value();
    case MemberMode::manifest_work: return true;
    case MemberMode::none: return false;
  }
  return false;
}

Changes recompute_cluster(CapacityRoom state, const std::string& name, LogTime next_touch,
                          DirtySet& dirty) {
  Changes changes;
  const auto at = state.clusters.find(name);
  if (at == state.clusters.end()) return changes;
  Cluster& cluster = at->second;
  const ClusterTerms& terms = terms_of(state, name, cluster);
  CanonicalHeadroom pool_headroom;
  if (cluster.pool.offered) pool_headroom = pool_headroom_of(state.configuration, name);
  Close close{state,          name,           cluster,
              terms.settings, terms.headroom, cluster.pool.offered ? pool_headroom : terms.headroom,
              state.now};
  map_pairs(close);
  const bool hub_open_before = !cluster.counted_again_at;
  const std::tuple before_close{cluster.liveness_at_close, cluster.valued, hub_open_before};
  const bool held_before = cluster.hold.has_value();
  // The order matters: measure reads the growing sums that release_flapping changes, a hold begins
  // only under the liveness that update_liveness sets, and a held value does not step.
  release_flapping(close);
  count_devices(state, cluster);
  if (std::exchange(cluster.device_capacity.devices_known_changed, false))
    *cluster.only_capacity = false;
  const Totals before = measure(close);
  update_liveness(close);
  if (close.totals_matter) update_hold(close, before, usable_totals(cluster));
  if (cluster.counted_again_at && *cluster.counted_again_at <= close.now)
    cluster.counted_again_at.reset();
  close_values(close);
  close_pool(cluster, close.settings, close.lets_fall, close.now);
  state.deadlines.set(ClusterDeadline{name}, std::min(next_touch, next_deadline_of(close)));
  cluster.observation = {};
  cluster.observation.eligible_before = cluster.eligible_nodes;
  cluster.observation.pool.eligible_before = cluster.pool.eligible_nodes;
  // Where nothing but numbers moved, the cluster's writes stay as they are
  // (docs/decisions/0032-a-flip-plans-nothing.md).
  const bool only_capacity = *cluster.only_capacity && !close.grants_follow &&
                             held_before == cluster.hold.has_value() &&
                             before_close == std::tuple(cluster.liveness_at_close, cluster.valued,
                                                        !cluster.counted_again_at);
  (only_capacity ? dirty.capacities : dirty.clusters).insert(name);
  CapacityChange change{name, std::nullopt, false, false};
  if (only_capacity && close.accepted_moved) {
    dirty.accepted.insert(name);
    change.claims = ClaimPart::grants;
  } else if (close.accepted_moved || close.grants_follow ||
             hub_open_before != !cluster.counted_again_at) {
    change.claims = ClaimPart::all;
  }
  change.numbers = close.accepted_moved || close.grants_follow;
  change.presence = cluster.presence.detached ||
                    before_close != std::tuple(cluster.liveness_at_close, cluster.valued,
                                               !cluster.counted_again_at);
  changes.capacities.push_back(std::move(change));
  return changes;
}

}  // namespace fairlead
