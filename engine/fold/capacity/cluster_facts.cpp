// Adds capacity facts up: which node counts for which flavor, by source.
#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/node_count.h"
#include "engine/fold/capacity/pool_capacity.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_capacity.h"
#include "engine/fold/devices/device_cordon.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/multikueue/multikueue_state.h"

namespace fairlead {

namespace {

// Below this number of flap records decayed ones are not searched for.
constexpr std::size_t kFlapsBeforePruning = 64;

bool suppressed(const Cluster& cluster, const std::string& node) {
  const FlapPenalty* flap = cluster.flaps.find(node);
  return flap != nullptr && flap->suppressed_since.has_value();
}

// Adds a flap: the node became ineligible without a cordon.
void flap(CapacityReader state, Cluster& cluster, const std::string& cluster_name,
          const std::string& name, NodeRecord& node) {
  const DebounceSettings& settings = terms_of(state, cluster_name, cluster).settings;
  if (settings.flap_penalty <= 0) return;
  const std::size_t count = cluster.flaps.size();
  FlapPenalty& penalty = cluster.flaps[name];
  penalty.add(state.now, settings);
  schedule_release(cluster, name, penalty, settings);
  // What it still counts for, claims or the pool, no longer counts for growing.
  add_eligible(state, cluster, node, Sign::minus, {});
  node.suppressed = penalty.suppressed_since.has_value();
  add_eligible(state, cluster, node, Sign::plus, {});
  // A record that has decayed to 0 equals none. Pruning only at powers of two
  // bounds its cost.
  if (count >= kFlapsBeforePruning && std::has_single_bit(count) && cluster.flaps.size() > count)
    cluster.flaps.erase_if([&](const std::string&, const FlapPenalty& old) {
      return !old.suppressed_since && old.at_time(state.now, settings) == 0;
    });
}

// Counts a node that the source in force reports for the first time, or again after it was gone.
void count_new(CountReader state, Cluster& cluster, const std::string& name, NodeRecord& node) {
  node.suppressed = suppressed(cluster, name);
  count_node(state, cluster, node, node.seq);
  note_node(cluster, name, node.seq);
  cluster.observation.changed = true;
}

void uncount_gone(CountReader state, Cluster& cluster, const std::string& name,
                  const NodeRecord& node, Seq cause) {
  uncount_node(state, cluster, node, cause);
  note_node(cluster, name, cause);
  cluster.observation.changed = true;
}

// Notes a cordon of `node`: an administrator ordered the falls that follow, so they count at once.
void note_cordon(CapacityReader state, Cluster& cluster, const NodeRecord& node) {
  note_pool_cordon(state.configuration, cluster, node);
  for_each_canonical(node.facts.allocatable, state.configuration.resource_aliases,
                     [&](std::string_view resource, Amount amount) {
                       const NodeFlavor& flavor = flavor_for(state, cluster, node, resource);
                       if (flavor.name.empty()) return;
                       const CapacityKey key{flavor.name, std::string(resource)};
                       cluster.observation.at_once.insert(key);
                       if (flavor.eligible) cluster.observation.cordoned[key] += amount;
                     });
  if (node.counted.eligible) ++cluster.observation.cordoned_nodes;
}

// An equal part keeps its memory: of most nodes only the readiness ever changes.
template <class Part>
void renew(Part& known, const Part& observed) {
  if (known != observed) known = observed;
}

// The first candidate set of a resource that is used; the resources of set 0 may all be unused.
std::size_t first_used_set(const CandidateTable& candidates) {
  const auto& sets = candidates.set_of;
  const bool all_flavors =
      sets.empty() ||
      std::any_of(sets.begin(), sets.end(), [](const auto& of) { return of.second == 0; });
  return all_flavors ? 0 : 1;
}

// Whether a node that was counted as `was` became ineligible for a flavor. A node that counts for
// another flavor because it was relabelled does not flap.
bool lost_eligibility(const FlavorTables& flavors, const Cluster& cluster, const CountedNode& was,
                      const NodeRecord& node) {
  if (was.kind == 0 || was.kind == node.counted.kind) return false;
  const std::vector<NodeFlavor>& before = cluster.kinds[was.kind - 1].flavors;
  const std::vector<NodeFlavor>& after = flavors_of(cluster, node);
  for (std::size_t set = first_used_set(flavors.candidates); set < before.size(); ++set)
    if (before[set].eligible && !after[set].name.empty() && !after[set].eligible) return true;
  return false;
}

// Replaces the facts of a node that the source in force has counted.
void recount_node(CapacityReader state, Cluster& cluster, const std::string& cluster_name,
                  const std::string& name, NodeRecord& node, const NodeFacts& facts, Seq seq) {
  const bool cordoned = !node.facts.unschedulable && facts.unschedulable;
  DeviceCordon devices;
  if (cordoned) {
    note_cordon(state, cluster, node);
    devices = begin_device_cordon(state, cluster, name);
  }
  const CountedNode was = node.counted;
  const bool matched_again =
      node.facts.labels != facts.labels ||
      taints_may_decide(node.facts.taints, facts.taints, state.flavors.by_name);
  add_eligible(state, cluster, node, Sign::minus, seq);
  if (matched_again) {
    node.facts = cluster.bases->share(facts);
    node.seq = seq;
    count_node(state, cluster, node, seq);
  } else {
    // Labels and the taints that flavors name decide which flavors win, so they stay, and no
    // selector is matched. This is the path of a node that becomes NotReady.
    renew(node.facts.taints, facts.taints);
    if (node.facts.allocatable != facts.allocatable)
      node.facts.allocatable = cluster.bases->amounts.share(facts.allocatable);
    node.facts.unschedulable = facts.unschedulable;
    node.facts.ready = facts.ready;
    node.seq = seq;
    count_for_flavors(state, cluster, node, seq);
  }
  cluster.observation.changed = true;
  const bool lost = lost_eligibility(state.flavors, cluster, was, node);
  leave_kind(cluster, was);  // not before: the new kind could have taken the place that `was` names
  if ((lost || (was.in_pool && !node.counted.in_pool)) && !cordoned)
    flap(state, cluster, cluster_name, name, node);
  note_node(cluster, name, seq);
  if (cordoned) conclude_device_cordon(state, cluster, devices);
}

NameTable<NodeRecord>& nodes_of(Cluster& cluster, CapacitySource source) {
  return source == CapacitySource::nodes ? cluster.reports.nodes : cluster.reports.metrics_nodes;
}

bool knows(const Cluster& cluster, CapacitySource source) {
  switch (source) {
    case CapacitySource::nodes: return cluster.reports.nodes_known;
    case CapacitySource::cluster_metrics: return cluster.reports.metrics_known;
    case CapacitySource::managed_cluster: return cluster.reports.totals_known;
  }
  return false;
}

// Whether the nodes' own events are remembered as the causes of the sums.
enum class Causes : std::uint8_t { nodes, none };

void recount(CountReader state, Cluster& cluster, Causes causes = Causes::nodes) {
  for (auto* nodes : {&cluster.reports.nodes, &cluster.reports.metrics_nodes})
    for (auto* entry : nodes->sorted()) entry->second.counted = {};
  cluster.kinds.clear();
  cluster.lanes->clear();
  cluster.observation.kinds.clear();
  cluster.eligible_nodes = 0;
  for (auto& [key, value] : cluster.capacity) value.offered = value.growing = 0;
  clear_pool_sums(cluster);
  recount_devices(cluster, state.seq);
  if (!cluster.source) return;
  if (*cluster.source == CapacitySource::managed_cluster) {
    add_totals_to_pool(cluster);
    for (const auto& [resource, amount] : cluster.reports.totals) {
      CapacityValue& value = cluster.capacity[{"", resource}];
      value.offered += amount;
      value.growing += amount;
      remember_change(value, cluster.presence.managed_seq);
    }
    return;
  }
  for (auto* entry : nodes_of(cluster, *cluster.source).sorted()) {
    entry->second.suppressed = suppressed(cluster, entry->first);
    count_node(state, cluster, entry->second, causes == Causes::nodes ? entry->second.seq : Seq{});
  }
}

// By key: what is offered in all, and for growing.
using Sums = std::map<CapacityKey, std::pair<Int128, Int128>>;
Sums sums_of(const Cluster& cluster) {
  Sums sums;
  for (const auto& [key, value] : cluster.capacity) sums[key] = {value.offered, value.growing};
  return sums;
}

// Remembers `cause` as the event that changed the sums from `before`.
void remember_changes(Cluster& cluster, const Sums& before, Seq cause) {
  for (auto& [key, value] : cluster.capacity) {
    const auto was = before.find(key);
    if ((was == before.end() ? std::pair<Int128, Int128>{} : was->second) !=
        std::pair{value.offered, value.growing})
      remember_change(value, cause);
  }
}

// Recounts after a flavor or the configuration changed at `cause`. Where values were accepted
// already that event alone is the cause of new sums: the nodes did not change.
void recount_because(CapacityReader state, const std::string& name, Cluster& cluster, Seq cause) {
  const Sums before = cluster.known ? sums_of(cluster) : Sums{};
  recount(state, cluster, cluster.known ? Causes::none : Causes::nodes);
  remember_changes(cluster, before, cause);
  // Another headroom leaves other usable values of the same sums.
  if (!cluster.known) return;
  const CanonicalHeadroom& headroom = terms_of(state, name, cluster).headroom;
  for (auto& [key, value] : cluster.capacity)
    if (rest_for_claims(cluster, usable_amount(value.offered, key.resource, headroom)) !=
        value.damped.usable)
      remember_change(value, cause);
}

// The first source in the configured order that knows the cluster; where none knows it any more the
// one in force, so that the last value stays.
std::optional<CapacitySource> due_source(const Configuration& configuration,
                                         const Cluster& cluster) {
  for (const CapacitySource source : configuration.capacity_sources)
    if (knows(cluster, source)) return source;
  return cluster.source;
}

// Puts the due source in force. Returns true if that changed it; then all is recounted.
bool choose_source(CountReader state, Cluster& cluster) {
  const std::optional<CapacitySource> chosen = due_source(state.configuration, cluster);
  if (chosen == cluster.source) return false;
  const bool was_totals = cluster.source == CapacitySource::managed_cluster;
  const bool is_totals = chosen == CapacitySource::managed_cluster;
  if (cluster.source && was_totals != is_totals) {
    cluster.valued = false;  // its first value is waited for
    for (auto& [key, value] : cluster.capacity) value.damped.held_by = GrowthBar::none;
  }
  const bool valued_before = cluster.source && cluster.known;
  if (valued_before) cluster.source_change = {*cluster.source, *chosen, state.seq, state.now};
  cluster.source = chosen;
  cluster.observation.changed = true;
  *cluster.only_capacity = false;
  const auto before = sums_of(cluster);
  recount(state, cluster);
  if (valued_before) remember_changes(cluster, before, state.seq);
  return true;
}

bool in_force(const Cluster& cluster, CapacitySource source) { return cluster.source == source; }

// Resets a cluster that joined again after it had left: a new cluster under an old name. What the
// sources report at present stays.
void begin_anew(CapacityReader state, const std::string& name, Cluster& cluster) {
  cluster.presence.detached = false;
  cluster.presence.claim_seen = state.claims.of_cluster.contains(name);
  if (!cluster.presence.managed || cluster.presence.managed->allocatable.empty())
    cluster.reports.totals.clear();  // they were the former cluster's
  if (!cluster.pool.offered) {       // of a super cluster the pool goes on, by what its nodes say
    cluster.flaps.clear();
    cluster.releases.clear();
    cluster.hold.reset();
  }
  cluster.mapped.clear();
  cluster.capacity.clear();
  cluster.lanes->clear();
  cluster.valued = cluster.known = false;
  cluster.source_change.reset();
  cluster.counted_again_at.reset();
  cluster.liveness_at_close = Liveness::live;
  cluster.member.named.clear();
  if (const Claim* claim = winning_claim(state.claims, name); claim && claim->terms)
    for (const AssignmentRow& row : claim->terms->rows)
      cluster.member.named[row.cluster_queue].insert(row.flavor);
  recount(state, cluster);
}

// Returns what follows if the cluster joined or left.
Changes update_presence(CapacityReader state, const std::string& name, Cluster& cluster,
                        bool joined_before) {
  if (joined_before == cluster.joined()) return {};
  cluster.presence.changed_seq = state.seq;
  if (joined_before) cluster.presence.detached = true;
  if (!joined_before && cluster.presence.detached) begin_anew(state, name, cluster);
  return claims_follow(name);
}

}  // namespace

void note_member(FlavorRoom state, const std::string& name) {
  const auto known = state.clusters.find(name);
  if (known != state.clusters.end() && known->second.pool.member) return;
  Cluster& cluster = mark_capacity_dirty(state, name);
  cluster.pool.member = true;
  set_pool_terms(state, name, cluster);
  if (cluster.pool.offered) recount(state, cluster, Causes::none);
}

void schedule_release(Cluster& cluster, const std::string& node, FlapPenalty& flap,
                      const DebounceSettings& settings) {
  const LogTime when = flap.release_time(settings);
  if (when == flap.release_at) return;
  *cluster.only_capacity = false;  // the claim's status names suppressed nodes
  cluster.releases.erase({flap.release_at, node});
  if (when != kForever) cluster.releases.emplace(when, node);
  flap.release_at = when;
}

void observe_node(CapacityRoom state, const std::string& cluster_name, const std::string& name,
                  const NodeFacts* facts, Seq seq) {
  Cluster& cluster = mark_capacity_dirty(state, cluster_name);
  cluster.reports.nodes_known = true;
  if (DeviceChanges* changes = note_change(state, cluster_name, cluster, seq))
    changes->nodes.insert(name);
  NodeRecord* const known = cluster.reports.nodes.find(name);
  const bool changes_count = (known != nullptr) != (facts != nullptr);
  if (changes_count && cluster.stale())  // its status may name the number of nodes
    *cluster.only_capacity = false;
  // Where this node makes another source due, choose_source() below counts everything again.
  const bool counts = in_force(cluster, CapacitySource::nodes) &&
                      due_source(state.configuration, cluster) == CapacitySource::nodes;
  if (counts && known && facts)
    return recount_node(state, cluster, cluster_name, name, *known, *facts, seq);
  if (counts && known) uncount_gone(state, cluster, name, *known, seq);
  if (counts && !known && !facts) cluster.observation.changed = true;
  if (facts) {
    NodeRecord& node = known ? *known : cluster.reports.nodes[name];
    node = {cluster.bases->share(*facts), seq, {}};
    if (counts) count_new(state, cluster, name, node);
  } else if (known) {
    cluster.reports.nodes.erase(name);
  }
  if (!counts) choose_source(state, cluster);
}

void observe_metrics(CapacityRoom state, const std::string& cluster_name,
                     const ClusterMetricsFacts* facts, Seq seq) {
  Cluster& cluster = mark_cluster_dirty(state, cluster_name);
  cluster.reports.metrics_known = facts != nullptr;
  cluster.reports.metrics_empty = !facts || facts->nodes.empty();
  const bool switched = choose_source(state, cluster);
  // Where no other source knows the cluster the last nodes stay, and the next ClusterMetrics is
  // compared with them.
  NameTable<NodeRecord>& nodes = cluster.reports.metrics_nodes;
  if (!facts && !in_force(cluster, CapacitySource::cluster_metrics)) nodes.clear();
  if (cluster.reports.metrics_empty) return;
  NameTable<NodeRecord> before = std::move(nodes);
  nodes.clear();
  for (const auto& [name, node] : facts->nodes) {
    const NodeRecord* old = before.find(name);
    nodes[name] =
        old && old->facts == node ? *old : NodeRecord{cluster.bases->share(node), seq, {}};
  }
  if (!in_force(cluster, CapacitySource::cluster_metrics)) return;
  // choose_source() has counted the nodes that were there before these.
  if (switched) return recount(state, cluster);
  for (const auto* entry : std::as_const(before).sorted())
    if (!nodes.contains(entry->first))
      uncount_gone(state, cluster, entry->first, entry->second, seq);
  for (auto* entry : nodes.sorted()) {
    const auto& [name, node] = *entry;
    const NodeRecord* old = before.find(name);
    if (!old) {
      count_new(state, cluster, name, entry->second);
    } else if (old->facts != node.facts) {
      // The former record, with what was counted of it: that is what recount_node() takes out of
      // the sums.
      entry->second = *old;
      recount_node(state, cluster, cluster_name, name, entry->second, facts->nodes.at(name), seq);
    }
  }
  cluster.observation.changed = true;
}

Changes observe_managed_cluster(CapacityRoom state, const std::string& name,
                                const ManagedClusterFacts* facts, Seq seq) {
  Cluster& cluster = mark_cluster_dirty(state, name);
  const bool joined_before = cluster.joined();
  auto& managed = cluster.presence.managed;
  if (managed.has_value() != (facts != nullptr)) cluster.presence.changed_seq = seq;
  managed = facts ? std::optional(*facts) : std::nullopt;
  cluster.presence.managed_seq = seq;
  cluster.reports.totals_known = facts != nullptr;
  auto& totals = cluster.reports.totals;
  // A ManagedCluster without allocatable has not reported it: the last totals stay.
  if (facts && !facts->allocatable.empty())
    totals = canonical_amounts(facts->allocatable, state.configuration.resource_aliases);

  const ConditionStatus available = facts ? facts->available.status : ConditionStatus::absent;
  const bool unavailable =
      available == ConditionStatus::no || available == ConditionStatus::unknown;
  auto& since = cluster.reports.unavailable_since;
  if (!unavailable) since.reset();
  if (unavailable && !since) since = state.now;
  cluster.reports.liveness_seq = seq;

  Changes changes = update_presence(state, name, cluster, joined_before);
  const bool switched = choose_source(state, cluster);
  // Where no other source knows the cluster the last totals stay: they are counted again when a
  // flavor or the configuration changes.
  if (!facts && !in_force(cluster, CapacitySource::managed_cluster)) totals.clear();
  if (!switched && in_force(cluster, CapacitySource::managed_cluster) && facts &&
      !facts->allocatable.empty()) {
    recount(state, cluster);
    for (auto& [key, value] : cluster.capacity) remember_change(value, seq);
    cluster.observation.changed = true;
  }
  return changes;
}

Changes observe_profile(CapacityRoom state, const ObjectKey& key,
                        const ClusterProfileFacts* facts) {
  Changes changes;
  const NamespacedName id(key.namespace_, key.name);
  const auto known = state.multikueue.profiles.find(id);
  if (known != state.multikueue.profiles.end() &&
      (!facts || facts->cluster != known->second.facts.cluster)) {
    const std::string& name = known->second.facts.cluster;
    Cluster& cluster = mark_cluster_dirty(state, name);
    const bool joined_before = cluster.joined();
    cluster.presence.profiles.erase(id);
    changes.merge(update_presence(state, name, cluster, joined_before));
  }
  if (!facts) return changes;
  Cluster& cluster = mark_cluster_dirty(state, facts->cluster);
  const bool joined_before = cluster.joined();
  cluster.presence.profiles.insert(id);
  changes.merge(update_presence(state, facts->cluster, cluster, joined_before));
  return changes;
}

void recount_everything(FlavorRoom state) {
  state.flavors.candidates = candidates_of(state.flavors.in_force, state.flavors.by_name,
                                           state.configuration.resource_aliases);
  for (auto& [name, cluster] : state.clusters) {
    mark_cluster_dirty(state, name);
    set_pool_terms(state, name, cluster);
    if (cluster.presence.managed && !cluster.presence.managed->allocatable.empty())
      cluster.reports.totals = canonical_amounts(cluster.presence.managed->allocatable,
                                                 state.configuration.resource_aliases);
    if (!choose_source(state, cluster)) recount_because(state, name, cluster, state.seq);
  }
}

// What the edit moved from one flavor to another is a decision of an administrator: the falls count
// at once. Growth waits for its window.
void recount_for_uses(FlavorRoom state, Seq edit) {
  for (auto& [name, cluster] : state.clusters) {
    if (!cluster.source || *cluster.source == CapacitySource::managed_cluster) continue;
    mark_capacity_dirty(state, name);
    const Sums before = sums_of(cluster);
    recount(state, cluster, cluster.known ? Causes::none : Causes::nodes);
    count_devices(state, cluster);
    // What only this moment counted, by the uses before, was never measured.
    std::erase_if(cluster.capacity, [](const auto& entry) {
      const CapacityValue& value = entry.second;
      return value.offered == 0 && value.damped.high.empty();
    });
    cluster.lanes->clear();
    if (!cluster.known) continue;
    remember_changes(cluster, before, edit);
    for (const auto& [key, was] : before)
      if (const auto is = cluster.capacity.find(key);
          is != cluster.capacity.end() && is->second.offered < was.first)
        cluster.observation.moved.insert(key);
  }
}

void observe_sign_of_life(CapacityRoom state, const SourceName& source, std::optional<Kind> kind,
                          const std::string& cluster) {
  const auto sign = [&](const std::string& name) {
    Observation& seen = mark_cluster_dirty(state, name).observation;
    seen.changed = true;
    seen.sign = state.seq;
  };
  if (!kind) return sign(cluster);
  if (*kind == Kind::node) {
    if (source == kHub) return;
    Cluster& target = mark_cluster_dirty(state, source);
    target.reports.nodes_known = true;  // a complete list reports the nodes, also an empty one
    choose_source(state, target);
    return sign(source);
  }
  if (*kind == Kind::resource_slice && source != kHub) return sign(source);
  if (source != kHub || (*kind != Kind::cluster_metrics && *kind != Kind::managed_cluster)) return;
  const CapacitySource which = *kind == Kind::cluster_metrics ? CapacitySource::cluster_metrics
                                                              : CapacitySource::managed_cluster;
  for (auto& [name, target] : state.clusters)
    if (in_force(target, which) && target.hold) sign(name);
}

}  // namespace fairlead
