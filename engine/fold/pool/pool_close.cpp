#include "engine/fold/pool/pool_close.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/fold/deadlines.h"
#include "engine/fold/dirty_set.h"
#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/demand.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/pod_reservations.h"
#include "engine/fold/pool/pods.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/reasons.h"
#include "engine/fold/pool/rounds.h"
#include "engine/fold/pool/sending.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/fold/pool/tenants.h"

namespace fairlead {

namespace {

void mark_whole_tenant_dirty(Pool& pool, const std::string& name) {
  for (const auto& [each, of] : pool.tenants.at(name).namespaces) {
    pool.dirty_namespaces.insert({name, each});
    pool.dirty_lists.insert({name, each});
  }
}

// After a change of configuration: what was read and counted under the former one is read and
// counted again.
void read_all_again(PoolRoom state) {
  Pool& pool = state.pool;
  pool.room_grew = true;
  for (const auto& [name, tenant] : pool.tenants) {
    pool.dirty_tenants.insert(name);
    mark_whole_tenant_dirty(state.pool, name);
  }
  for (const auto& [id, cluster] : pool.clusters) pool.dirty_clusters.insert(id);
  for (auto& [name, tenant] : pool.tenants)
    for (auto& [each, of] : tenant.namespaces) {
      if (of.seen)
        of.observed =
            read_placements(of.seen->facts.placements, state.configuration.pool.slices_max);
      recount_said(state, {name, each});
    }
}

// ---- super clusters ----

// Whether a member became a super cluster, is no longer one, or has another id.
bool ids_changed(const Pool& pool) {
  return std::any_of(pool.dirty_clusters.begin(), pool.dirty_clusters.end(),
                     [&](const std::string& id) {
                       const auto cluster = pool.clusters.find(id);
                       if (cluster == pool.clusters.end()) return true;
                       const auto known = pool.ids.find(cluster->second.cluster);
                       return known == pool.ids.end() || known->second != id;
                     });
}

// The ids under which members count, as Pool::clusters has them now.
void recount_ids(PoolRoom state) {
  Pool& pool = state.pool;
  if (!ids_changed(pool)) return;
  std::map<std::string, std::string> ids;
  for (const auto& [id, cluster] : pool.clusters) ids.emplace(cluster.cluster, id);
  if (ids == pool.ids) return;
  std::set<std::string> members;
  for (const auto& [member, id] : ids)
    if (const auto at = pool.ids.find(member); at == pool.ids.end() || at->second != id)
      members.insert(member);
  for (const auto& [member, id] : pool.ids)
    if (const auto at = ids.find(member); at == ids.end() || at->second != id)
      members.insert(member);
  for (const std::string& member : members)
    for (auto at = pool.super_namespaces.lower_bound({member, ""});
         at != pool.super_namespaces.end() && at->first.first == member; ++at)
      // Under the id that it was counted at: recount_member() counts it at the next one.
      uncount_super_namespace(state, at->first);
  pool.ids = std::move(ids);
  for (const std::string& member : members) recount_member(state, member);
}

// Finds the ids that placements name and no member has. They change with what is listed, with a
// cluster that goes, and with one that comes and has such an id. Returns whether they changed.
bool find_unknown_ids(PoolRoom state) {
  Pool& pool = state.pool;
  const auto came_or_went = [&](const std::string& id) {
    return !pool.clusters.contains(id) || pool.unknown.contains(id);
  };
  if (!std::exchange(pool.lists_changed, false) &&
      std::none_of(pool.dirty_clusters.begin(), pool.dirty_clusters.end(), came_or_went))
    return false;
  const auto is_named = [&](const std::string& id) {
    const auto at = pool.totals.find(id);
    return at != pool.totals.end() && !at->second.namespaces.empty();
  };
  // Ids that are still unknown keep their time, from which lostGrace runs.
  bool changed = std::erase_if(pool.unknown, [&](const auto& entry) {
                   return pool.clusters.contains(entry.first) || !is_named(entry.first);
                 }) > 0;
  for (const auto& [id, totals] : pool.totals)
    if (!totals.namespaces.empty() && !pool.clusters.contains(id))
      changed |= pool.unknown.try_emplace(id, state.now).second;
  return changed;
}

// Which ids may have another standing than at the last close. `all` at the pool's deadline, the
// only time at which a standing changes by time alone; and while there are ids that no member has,
// because these also change when the last member's id becomes known.
enum class Turning : std::uint8_t { changed_clusters, all };

// Derives the standing of an id. Returns whether it has changed.
bool has_turned(PoolRoom state, const std::string& id) {
  Pool& pool = state.pool;
  if (!pool.clusters.contains(id) && !pool.unknown.contains(id))
    return pool.standings.erase(id) > 0;
  const ClusterStanding now = standing_of(state, id);
  const auto [at, added] = pool.standings.try_emplace(id, now);
  return added || std::exchange(at->second, now) != now;
}

// Marks the namespaces of clusters that may be used for more or less than before.
void recompute_standings(PoolRoom state, Turning which) {
  Pool& pool = state.pool;
  std::set<std::string> ids = std::exchange(pool.dirty_clusters, {});
  for (const std::string& id : ids) {
    recompute_overflow(pool, id);
    note_room(pool, id);
  }
  if (which == Turning::all) {
    for (const auto& [id, standing] : pool.standings) ids.insert(id);
    for (const auto& [id, since] : pool.unknown) ids.insert(id);
  }
  for (const std::string& id : ids) {
    if (!has_turned(state, id)) continue;
    note_room(pool, id);
    if (const auto cluster = pool.clusters.find(id); cluster != pool.clusters.end())
      pool.dirty_devices.insert(cluster->second.cluster);  // a gone cluster pins no pod
    recompute_overflow(pool, id);
    const auto totals = pool.totals.find(id);
    if (totals == pool.totals.end()) continue;
    for (const PoolNamespaceKey& key : totals->second.namespaces) {
      pool.dirty_namespaces.insert(key);
      pool.dirty_lists.insert(key);
    }
  }
}

// ---- tenants ----

bool has_object(const PoolTenant& tenant) {
  return std::any_of(tenant.namespaces.begin(), tenant.namespaces.end(), [](const auto& entry) {
    return entry.second.seen || !entry.second.quotas.empty() || !entry.second.pods.empty();
  });
}

// Takes the namespace up once it is in the pool and a slice of it was read.
bool take_up(PoolRoom state, const PoolNamespaceKey& key, PoolNamespace& of) {
  if (of.taken_up || !of.slice || !quota_of(of, state.configuration.pool.quotas).any())
    return false;
  of.taken_up = true;
  of.unit = *of.slice;
  of.last_value.clear();
  recount_said(state, key);
  return true;
}

// Adopts the placements in a tenant's first list, namespaces by name.
void take_up_first_list(PoolRoom state, const std::string& name) {
  PoolTenant& tenant = state.pool.tenants.at(name);
  tenant.first_seen = true;
  for (auto& [each, of] : tenant.namespaces) {
    const PoolNamespaceKey key{name, each};
    if (!of.seen || of.seen->facts.deleting || !take_up(state, key, of) || !of.observed) continue;
    of.last_value = *of.observed;
    adopt_placements(state, key, *of.observed);
  }
}

void recompute_tenant(PoolRoom state, const std::string& name) {
  recompute_tenancy(state, name);
  PoolTenant& tenant = state.pool.tenants.at(name);
  if (!tenant.admitted) return end_tenant(state, name);
  if (tenant.connected() != tenant.takes_part) {
    tenant.takes_part = tenant.connected();
    for (const auto& [each, of] : tenant.namespaces) recount_said(state, {name, each});
    mark_whole_tenant_dirty(state.pool, name);
  }
  if (tenant.takes_part && !tenant.first_seen && has_object(tenant))
    take_up_first_list(state, name);
}

// Notes what another writer did to the placements since they were last observed.
void note_edit(PoolNamespace& of) {
  if (!of.observed || *of.observed == of.last_value) return;
  of.last_value = *of.observed;
  of.edited = PlacementEdit::none;
  of.edit.clear();
  // Our own value does not count as an edit: what is decided now, or the last write, which a
  // decision since may have replaced.
  if (of.last_value == placements_of(of) || (of.written && *of.written == of.last_value)) return;
  of.edited = of.last_value.empty() ? PlacementEdit::cleared : PlacementEdit::changed;
  of.edit = of.last_value;
}

void note_edits(PoolRoom state) {
  for (const PoolNamespaceKey& key : state.pool.dirty_namespaces) {
    PoolNamespace* const of = find_namespace(state.pool, key);
    if (!of || !takes_part(state.pool.tenants.at(key.first), *of)) continue;
    take_up(state, key, *of);
    if (of->taken_up) note_edit(*of);
  }
}

// ---- what is to be written ----

void recompute_namespace(PoolRoom state, const PoolNamespaceKey& key, DirtySet& dirty) {
  Pool& pool = state.pool;
  pool.unwritten.erase(key);
  PoolNamespace* const of = find_namespace(pool, key);
  if (!of) return;
  const PoolTenant& tenant = pool.tenants.at(key.first);
  if (!takes_part(tenant, *of)) return;
  if (!of->taken_up && !is_in_pool(state.configuration, *of))
    clear_reason(of->reason);
  else
    set_reason(state, key_of_namespace(key), of->reason, reason_of_namespace(state, tenant, *of));
  if (!namespace_differs(state.configuration, *of)) return;
  const SourceName source = tenant_source(key.first);
  dirty.pool_namespaces.insert(key);
  if (may_send(state, {source, Kind::namespace_, "", key.second, false}, key_of_namespace(key)))
    pool.unwritten.insert(key);
}

void mark_due_dirty(Pool& pool, LogTime now) {
  while (!pool.due.empty() && pool.due.begin()->first <= now) {
    const PoolPodKey key = pool.due.begin()->second;
    pool.due.erase(pool.due.begin());
    if (key.pod.empty())
      pool.dirty_namespaces.insert(namespace_of(key));
    else
      pool.dirty_pods.insert(key);
  }
}

void set_pool_deadline(PoolRoom state) {
  LogTime next = std::min(next_super_cluster_deadline(state), clusters_known_at(state));
  for (const auto* due : {&state.pool.due, &state.pool.device_due})
    if (!due->empty()) next = std::min(next, due->begin()->first);
  state.deadlines.set(PoolDeadline{}, next > state.now ? next : kForever);
}

bool is_dirty(const Pool& pool) {
  return pool.all_dirty || pool.deadline_reached || pool.overflow_changed || pool.room_grew ||
         pool.lists_changed || !pool.dirty_tenants.empty() || !pool.dirty_limits.empty() ||
         !pool.dirty_namespaces.empty() || !pool.dirty_lists.empty() || !pool.dirty_pods.empty() ||
         !pool.dirty_clusters.empty() || !pool.dirty_devices.empty();
}

// Adds the namespaces with pods that wait, and may find more at a cluster than at their last look.
void look_where_pods_find_more(Pool& pool, std::set<PoolNamespaceKey>& look) {
  for (const std::string& id : std::exchange(pool.roomier, {})) {
    const auto totals = pool.totals.find(id);
    if (totals == pool.totals.end()) continue;
    const bool few_list_it = totals->second.namespaces.size() < pool.waiting.size();
    const auto& fewer = few_list_it ? totals->second.namespaces : pool.waiting;
    const auto& others = few_list_it ? pool.waiting : totals->second.namespaces;
    for (const PoolNamespaceKey& key : fewer)
      if (others.contains(key)) look.insert(key);
  }
}

// Decides namespaces first. Pods follow once every write of a Namespace that may be sent has been
// sent. A pod that is placed may end a 0 elsewhere, so both are repeated until nothing changes.
void decide_all(PoolRoom state, DirtySet& dirty, PodRefusals& refusals) {
  Pool& pool = state.pool;
  std::set<PoolNamespaceKey> look;
  for (;;) {
    run_pool_rounds(state);
    if (find_unknown_ids(state)) recompute_standings(state, Turning::all);
    for (const PoolNamespaceKey& key : pool.dirty_lists)
      if (const PoolNamespace* of = find_namespace(pool, key))
        for (const auto& [name, pod] : of->pods)
          pool.dirty_pods.insert({key.first, key.second, name});
    for (const PoolPodKey& key : pool.dirty_pods) update_waiting_pod(state, key);
    for (const PoolNamespaceKey& key : pool.dirty_namespaces)
      recompute_namespace(state, key, dirty);
    look.insert(pool.dirty_namespaces.begin(), pool.dirty_namespaces.end());
    look.insert(pool.dirty_lists.begin(), pool.dirty_lists.end());
    for (const PoolPodKey& key : pool.dirty_pods) look.insert(namespace_of(key));
    look_where_pods_find_more(pool, look);
    look.merge(mark_device_pods_dirty(state));
    const std::set<PoolPodKey> pods = std::exchange(pool.dirty_pods, {});
    pool.dirty_namespaces.clear();
    pool.dirty_lists.clear();
    for (const PoolPodKey& key : pods) recompute_pod(state, key, dirty);
    if (!pool.unwritten.empty()) {
      pool.unlooked.insert(look.begin(), look.end());
      return;
    }
    look.merge(pool.unlooked);
    pool.unlooked.clear();
    if (!place_pods(state, look, dirty, refusals) && pool.dirty_namespaces.empty()) return;
    look.clear();
  }
}

}  // namespace

void recompute_pool(PoolRoom state, DirtySet& dirty) {
  Pool& pool = state.pool;
  if (!is_dirty(pool)) return;
  if (std::exchange(pool.all_dirty, false)) read_all_again(state);
  // The order matters: ids and tenants decide which shares count, these which ids are unknown, and
  // all of them the standings that the decisions read.
  recount_ids(state);
  for (const std::string& name : std::exchange(pool.dirty_tenants, {}))
    recompute_tenant(state, name);
  mark_due_dirty(pool, state.now);
  note_edits(state);
  const bool unknown_before = !pool.unknown.empty();
  const bool deadline = std::exchange(pool.deadline_reached, false);
  const bool all = find_unknown_ids(state) || unknown_before || deadline;
  recompute_standings(state, all ? Turning::all : Turning::changed_clusters);
  update_clusters_known(state);
  PodRefusals refusals;
  decide_all(state, dirty, refusals);
  set_refusals(state, refusals, dirty);
  set_pool_deadline(state);
}

}  // namespace fairlead
