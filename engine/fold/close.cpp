#include "engine/fold/close.h"

#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/held.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/members/works.h"
#include "engine/fold/multikueue/finished_workloads.h"
#include "engine/fold/multikueue/multikueue_close.h"
#include "engine/fold/multikueue/observe_multikueue.h"
#include "engine/fold/objects.h"
#include "engine/fold/pool/pod_reservations.h"
#include "engine/fold/pool/pool_close.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/fold/pool/tenants.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/queues/take_over.h"
#include "engine/fold/queues/worker_quota.h"
#include "engine/fold/writes/outcomes.h"

namespace fairlead {

namespace {

// Marks what was written, which is planned again.
void mark_written_dirty(State& state, const WriteKey& key, WriteChange change) {
  const ObjectKey& object = key.object;
  const auto kind = written_kind(object.kind);
  if (!kind) return;
  switch (*kind) {
    case WrittenKind::cluster_queue:
      change == WriteChange::due ? requote_unchanged(state.queues, object.name)
                                 : mark_queue_dirty(state.queues, object.name);
      break;
    case WrittenKind::claim:
      if (key.status)
        mark_claim_status_dirty(state.claims, object.name);
      else if (state.claims.by_name.contains(object.name))
        mark_claim_dirty(state.claims, object.name);
      else if (const auto cluster = cluster_of_new_claim(object.name);
               state.clusters.contains(cluster))
        mark_cluster_dirty(state, cluster);  // which plans the claim that it still lacks
      break;
    case WrittenKind::manifest_work: mark_cluster_dirty(state, object.namespace_); break;
    case WrittenKind::binding_policy:
      mark_cluster_dirty(state, cluster_of_policy(object.name));
      break;
    case WrittenKind::multikueue_config:
    case WrittenKind::multikueue_cluster:
    case WrittenKind::admission_check:
    case WrittenKind::workload: mark_multikueue_dirty(state.multikueue, object); break;
    case WrittenKind::fleet_resource_claim:
      state.fleet.dirty_claims.insert({object.namespace_, object.name});
      break;
    case WrittenKind::fleet_scheduling:
      state.fleet.dirty_schedulings.insert({object.namespace_, object.name});
      break;
    case WrittenKind::namespace_:
      mark_pool_namespace_dirty(state.pool, key.cluster, object.name);
      break;
    case WrittenKind::pod:
      mark_pool_pod_dirty(state.pool, key.cluster, {object.namespace_, object.name});
      break;
  }
}

void follow_capacity(State& state, const CapacityChange& change) {
  if (change.claims == ClaimPart::grants) mark_cluster_grants_dirty(state.claims, change.cluster);
  if (change.claims == ClaimPart::all) mark_cluster_claims_dirty(state.claims, change.cluster);
  if (change.numbers) await_still_numbers(state, change.cluster);
  if (change.presence) mark_followers_dirty(state.multikueue);
}

// Plans a queue with the claims that name it and their clusters, whose statuses and works follow
// from its quota.
void mark_around_queue_dirty(State& state, const std::string& queue, DirtySet& dirty) {
  dirty.queues.insert(queue);
  const auto claims = state.claims.of_queue.find(queue);
  if (claims == state.claims.of_queue.end()) return;
  for (const std::string& name : claims->second) {
    dirty.claims.insert(name);
    // Only claims with terms are in `of_queue` (add_to_indexes).
    dirty.clusters.insert(state.claims.by_name.at(name).terms->cluster);
  }
}

// The end of a window moves accepted values or nothing, which recompute_cluster finds out. At a
// member that differs from its work the deadline may also mean a touch of the work, which is a
// write.
void mark_due_cluster_dirty(State& state, const std::string& name) {
  const auto at = state.clusters.find(name);
  const bool differs = at != state.clusters.end() && !at->second.member.deviating.empty();
  differs ? mark_cluster_dirty(state, name) : mark_capacity_dirty(state, name);
}

void mark_due_dirty(State& state) {
  while (const auto due = state.deadlines.dequeue_due(state.now)) {
    if (const auto* cluster = std::get_if<ClusterDeadline>(&*due))
      mark_due_cluster_dirty(state, cluster->cluster);
    else if (const auto* list = std::get_if<ListDeadline>(&*due))
      mark_list_dirty(state.multikueue, list->placement);
    else if (const auto* check = std::get_if<CheckDeadline>(&*due))
      state.multikueue.dirty_checks.insert(check->check);
    else if (const auto* quota = std::get_if<QuotaDeadline>(&*due))
      state.multikueue.dirty_followers.insert(quota->queue);
    else if (std::holds_alternative<PoolDeadline>(*due))
      state.pool.deadline_reached = true;
    else if (std::holds_alternative<DispatchDeadline>(*due))
      continue;  // recompute_dispatch knows which Workloads are due
    else
      hand_on(state, reach_write_deadline(state, std::get<WriteKey>(*due)));
  }
}

// As if it were gone. Our writes of it ended with it.
void forget_workload(State& state, const SourceName& source, const NamespacedName& id) {
  const ObjectKey key{Kind::workload, id.first, id.second};
  note_gone(state, source, key);
  fold_object(state, source, key, nullptr, state.seq);
}

// The loop ends: what is forgotten is no longer among the finished ones.
void forget_past_workloads(State& state) {
  while (const auto past = next_past(state)) forget_workload(state, past->first, past->second);
}

}  // namespace

void bound_workloads(State& state, const SourceName& source) {
  const auto max = static_cast<std::size_t>(state.configuration.workloads.max);
  while (held_workloads(state, source) > max) {
    const auto last = finished_last(state, source);
    if (!last) return;
    forget_workload(state, source, *last);
  }
}

void hand_on(State& state, const Changes& changes) {
  for (const auto& [key, change] : changes.writes) mark_written_dirty(state, key, change);
  for (const CapacityChange& change : changes.capacities) follow_capacity(state, change);
}

// Each step reads what the steps before it decided: accepted values, which devices are free,
// grants, worker lists and tenants' placements, quotas that follow those lists, and last the
// queues' pairs.
void close_moment(State& state, DirtySet& dirty) {
  mark_due_dirty(state);
  forget_past_workloads(state);
  adopt_uses(state);
  const std::set<std::string> clusters = std::exchange(state.dirty_clusters, {});
  for (const std::string& name : clusters)
    hand_on(state, recompute_cluster(state, name, next_touch(state, name), dirty));
  recompute_super_clusters(state, clusters);
  recompute_searches(state);
  recompute_pod_reservations(state);
  recompute_claims(state, dirty);
  take_over_for_new_members(state, clusters);
  do {
    recompute_multikueue(state, dirty);
    recompute_pool(state, dirty);
  } while (!state.dispatch.dirty_clusters.empty());  // a pod that went elsewhere left devices
  end_changes(state);
  recompute_worker_quotas(state);
  for (const std::string& name : std::exchange(state.queues.dirty, {})) {
    recompute_pairs(state, name);
    mark_around_queue_dirty(state, name, dirty);
  }
  for (const std::string& name : std::exchange(state.queues.dirty_quotas, {})) {
    recompute_pairs(state, name);
    dirty.queues.insert(name);
  }
  if (std::exchange(state.all_dirty, false)) dirty.everything = true;
}

}  // namespace fairlead
