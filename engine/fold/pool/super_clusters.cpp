#include "engine/fold/pool/super_clusters.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/pool_capacity.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/pool_state.h"

namespace fairlead {

namespace {

// Returns the id of a member: from its ConfigMap, else its name; empty if that cannot be an id.
std::string id_of(const Pool& pool, const std::string& member) {
  const auto info = pool.infos.find(member);
  const std::string& id =
      info != pool.infos.end() && info->second.facts.id ? *info->second.facts.id : member;
  return is_super_cluster_id(id) ? id : "";
}

SuperCluster view_of(PoolReader state, const std::string& member, Cluster& cluster) {
  SuperCluster out;
  out.cluster = member;
  out.known = cluster.pool.known;
  for (const auto& [resource, value] : cluster.pool.values)
    out.accepted[resource] = value.capacity.damped.accepted;
  out.liveness = cluster.pool.liveness;
  out.lost_since = cluster.pool.lost_since;
  out.counted_again_at = cluster.pool.counted_again_at;
  const PoolCluster* const entry = pool_entry_of(state.configuration.pool, member);
  out.draining = entry && entry->drain;
  out.first_seen = cluster.pool.first_seen;
  out.nodes = largest_nodes_of(state.configuration, cluster);
  return out;
}

using Nodes = std::optional<std::vector<NodeSize>>;

// Whether some node of `now` can hold what none of `before` could.
bool holds_more(const Nodes& now, const Nodes& before) {
  if (!now || !before) return before.has_value();
  return std::any_of(now->begin(), now->end(), [&](const NodeSize& size) {
    return std::none_of(before->begin(), before->end(),
                        [&](const NodeSize& other) { return covers(other, size); });
  });
}

// Takes over the seqs, which do not count when two views are compared.
void follow_events(PoolReader state, const SuperCluster& before, SuperCluster& now) {
  now.seq = before.seq;
  now.nodes_seq = before.nodes_seq;
  now.nodes_grew = before.nodes_grew;
  if (now.nodes == before.nodes) return;
  now.nodes_seq = state.input_seq;
  if (holds_more(now.nodes, before.nodes)) now.nodes_grew = state.input_seq;
}

// The newest event behind what the pool gets of the cluster.
Seq newest_cause(const Cluster& cluster) {
  Seq newest = cluster.liveness_at_close_seq;
  for (const auto& [resource, value] : cluster.pool.values)
    if (!value.capacity.causes.empty()) newest = std::max(newest, value.capacity.causes.back());
  return newest;
}

// The members whose id is known, by id; of several members with the same id the first by name.
std::map<std::string, std::string> members_by_id(PoolReader state) {
  std::map<std::string, std::string> members;
  for (const auto& [name, cluster] : state.clusters)
    if (cluster.pool.offered && !awaits_id(state, name))
      if (std::string id = id_of(state.pool, name); !id.empty())
        members.try_emplace(std::move(id), name);
  return members;
}

// Since when the id is away (it is gone pool.lostGrace later); nullopt: it is not away.
std::optional<LogTime> away_since(PoolReader state, const std::string& id) {
  const Pool& pool = state.pool;
  if (const auto at = pool.clusters.find(id); at != pool.clusters.end())
    return at->second.lost_since;
  if (std::any_of(pool.unlearnt.begin(), pool.unlearnt.end(),
                  [&](const std::string& member) { return awaits_id(state, member); }))
    return std::nullopt;
  const auto at = pool.unknown.find(id);
  return at == pool.unknown.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

bool awaits_id(PoolReader state, const std::string& member) {
  if (!state.pool.unlearnt.contains(member)) return false;
  const auto at = state.clusters.find(member);
  return at != state.clusters.end() && at->second.pool.offered &&
         at->second.pool.liveness != Liveness::lost;
}

void observe_super_cluster_info(StateView<Clusters, DirtyClusters, Pool> state,
                                const SourceName& source, const ObjectKey& key,
                                const Seen<ConfigMapFacts>& seen) {
  if (key.namespace_ != kSuperClusterInfoNamespace || key.name != kSuperClusterInfo) return;
  mark_cluster_dirty(state, source);
  state.pool.ids_dirty = true;
  state.pool.unlearnt.erase(source);
  state.pool.learnt.insert(source);
  if (seen)
    state.pool.infos[source] = *seen;
  else
    state.pool.infos.erase(source);
}

void observe_super_cluster_id(StateView<Clusters, DirtyClusters, Pool> state,
                              const SourceName& source, Liveness liveness) {
  mark_cluster_dirty(state, source);
  state.pool.ids_dirty = true;
  if (liveness == Liveness::live) {
    state.pool.unlearnt.erase(source);
    state.pool.learnt.insert(source);
  } else if (liveness == Liveness::lost && !state.pool.learnt.contains(source)) {
    state.pool.unlearnt.insert(source);
  }
}

// Which id a member has depends on the other members: of several with the same id the first one
// counts. So where an id may have changed, all members are looked at; otherwise only the members
// whose moment closed, which keep their ids.
void recompute_super_clusters(PoolRoom state, const std::set<std::string>& members) {
  Pool& pool = state.pool;
  if (state.configuration.pool.clusters.empty() && pool.clusters.empty()) return;
  const auto is_new = [&](const std::string& name) {
    const auto at = state.clusters.find(name);
    return at != state.clusters.end() && at->second.pool.offered &&
           (!pool.offering.contains(name) || pool.unlearnt.contains(name));
  };
  std::vector<std::string> ids;
  if (std::exchange(pool.ids_dirty, false) || pool.all_dirty ||
      std::any_of(members.begin(), members.end(), is_new)) {
    const std::map<std::string, std::string> by_id = members_by_id(state);
    pool.deadline_reached = true;  // it may now be known that no member has an id
    pool.offering.clear();
    for (const auto& [name, cluster] : state.clusters)
      if (cluster.pool.offered) pool.offering.insert(name);
    for (const auto& [id, cluster] : pool.clusters)
      if (!by_id.contains(id)) ids.push_back(id);
    for (const std::string& id : ids) {
      pool.clusters.erase(id);
      pool.dirty_clusters.insert(id);
    }
    for (const auto& [id, member] : by_id) {
      SuperCluster& known = pool.clusters[id];
      SuperCluster now = view_of(state, member, state.clusters.at(member));
      follow_events(state, known, now);
      if (now == known) continue;
      now.seq = std::max(newest_cause(state.clusters.at(member)), state.input_seq);
      known = std::move(now);
      pool.dirty_clusters.insert(id);
    }
    return;
  }
  for (const std::string& member : members) {
    if (!pool.offering.contains(member)) continue;
    const std::string id = id_of(pool, member);
    const auto at = pool.clusters.find(id);
    if (at == pool.clusters.end() || at->second.cluster != member) continue;
    Cluster& cluster = state.clusters.at(member);
    SuperCluster now = view_of(state, member, cluster);
    follow_events(state, at->second, now);
    if (now == at->second) continue;
    now.seq = newest_cause(cluster);
    at->second = std::move(now);
    pool.dirty_clusters.insert(id);
  }
}

LogTime next_super_cluster_deadline(PoolReader state) {
  const Pool& pool = state.pool;
  LogTime next = kForever;
  const auto consider = [&](LogTime when) {
    if (when > state.now) next = std::min(next, when);
  };
  const Duration grace = state.configuration.pool.lost_grace;
  for (const auto& [id, cluster] : pool.clusters) {
    if (cluster.lost_since) consider(*cluster.lost_since + grace);
    if (cluster.counted_again_at && *cluster.counted_again_at != kForever)
      consider(*cluster.counted_again_at);
  }
  for (const auto& [id, since] : pool.unknown) consider(since + grace);
  return next;
}

ClusterStanding standing_of(PoolReader state, const std::string& id) {
  const Pool& pool = state.pool;
  const auto at = pool.clusters.find(id);
  if (at != pool.clusters.end() && at->second.draining) return ClusterStanding::gone;
  if (const auto since = away_since(state, id))
    return *since + state.configuration.pool.lost_grace <= state.now ? ClusterStanding::gone
                                                                     : ClusterStanding::away;
  if (at == pool.clusters.end()) return ClusterStanding::closed;  // not known yet
  const SuperCluster& cluster = at->second;
  if (!cluster.known || cluster.liveness != Liveness::live) return ClusterStanding::closed;
  if (cluster.counted_again_at && *cluster.counted_again_at > state.now)
    return ClusterStanding::closed;
  return ClusterStanding::open;
}

}  // namespace fairlead
