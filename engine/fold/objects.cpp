#include "engine/fold/objects.h"

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/devices/observe.h"
#include "engine/fold/fleet_claims/observe.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/members/works.h"
#include "engine/fold/multikueue/observe.h"
#include "engine/fold/multikueue/worker_quota.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/fold/pool/tenants.h"
#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/queues.h"

namespace fairlead {

namespace {

void mark_users_of_checks_dirty(State& state) {
  for (const auto& [name, queue] : state.queues)
    if (!queue.facts.admission_checks.empty()) mark_queue_dirty(state, name);
}

void observe_local_queue(State& state, const std::string& source, const ObjectKey& key,
                         const LocalQueueFacts* facts) {
  const std::pair id{key.namespace_, key.name};
  if (source != kHub) {
    Cluster& cluster = open_cluster(state, source);
    if (facts)
      cluster.member.local_queues[id] = facts->cluster_queue;
    else
      cluster.member.local_queues.erase(id);
    open_followers(state);
    return;
  }
  if (const auto at = state.local_queues.find(id); at != state.local_queues.end())
    mark_queue_dirty(state, at->second.cluster_queue);
  if (facts) {
    state.local_queues[id] = *facts;
    mark_queue_dirty(state, facts->cluster_queue);
  } else {
    state.local_queues.erase(id);
  }
}

// Folds a ClusterQueue of a watched member: its usage, and the quota that hub queues may follow.
void observe_member_queue(State& state, const std::string& source, const ObjectKey& key,
                          const ClusterQueueFacts* facts, Seq seq) {
  Cluster& cluster = open_cluster(state, source);
  if (facts) {
    MemberQueue& queue = cluster.member.queues[key.name];
    if (queue.groups != facts->groups) open_followers(state);
    queue = {facts->groups, facts->usage, seq, facts->effective};
  } else {
    cluster.member.queues.erase(key.name);
    open_followers(state);
  }
  judge_member_queue(state, source, key.name, DeviationSource::member);
}

template <class F>
const F* as(const ObjectObserved* seen) {
  return seen ? &std::get<F>(seen->facts) : nullptr;
}

template <class F>
Seen<F> record(const ObjectObserved* seen, Seq seq) {
  if (!seen) return std::nullopt;
  return Observed<F>{
      seen->uid, seen->version, seen->resource_version, seen->generation, std::get<F>(seen->facts),
      seq};
}

// The kinds of the super cluster pool.
void fold_pool_object(State& state, const SourceName& source, const ObjectKey& key,
                      const ObjectObserved* seen, Seq seq) {
  const NamespacedName id(key.namespace_, key.name);
  if (key.kind == Kind::virtual_cluster)
    return observe_virtual_cluster(state, id, record<VirtualClusterFacts>(seen, seq));
  if (key.kind == Kind::config_map)
    return observe_super_cluster_info(state, source, key, record<ConfigMapFacts>(seen, seq));
  if (key.kind == Kind::resource_quota)
    return observe_tenant_quota(state, source, id, record<ResourceQuotaFacts>(seen, seq));
  if (key.kind == Kind::pod)
    return is_tenant(source)
               ? observe_tenant_pod(state, source, id, record<PodFacts>(seen, seq))
               : observe_member_pod(state, source, id, record<PodFacts>(seen, seq), seq);
  const auto of = record<NamespaceFacts>(seen, seq);
  if (is_tenant(source)) return observe_tenant_namespace(state, source, key.name, of);
  return observe_super_namespace(state, source, key.name, of);
}

// The kinds of fleet claims, of the hub.
void fold_fleet_object(State& state, const ObjectKey& key, const ObjectObserved* seen, Seq seq) {
  const NamespacedName id(key.namespace_, key.name);
  if (key.kind == Kind::fleet_resource_class)
    return observe_fleet_class(state, key.name, record<FleetResourceClassFacts>(seen, seq));
  if (key.kind == Kind::fleet_resource_claim)
    return observe_fleet_claim(state, id, record<FleetResourceClaimFacts>(seen, seq), seq);
  if (key.kind == Kind::fleet_scheduling)
    return observe_fleet_scheduling(state, id, record<FleetSchedulingFacts>(seen, seq));
  observe_fleet_template(state, id, record<FleetResourceClaimTemplateFacts>(seen, seq));
}

// The kinds of resource.k8s.io: of the hub templates of claims, else of a member or a tenant.
void fold_device_object(State& state, const SourceName& source, const ObjectKey& key,
                        const ObjectObserved* seen, Seq seq) {
  const NamespacedName id(key.namespace_, key.name);
  if (source == kHub)
    return observe_booked_template(state, id, record<ResourceClaimTemplateFacts>(seen, seq));
  if (is_tenant(source))
    return key.kind == Kind::resource_claim
               ? observe_tenant_claim(state, source, id, as<ResourceClaimFacts>(seen), seq)
               : observe_tenant_template(state, source, id, as<ResourceClaimTemplateFacts>(seen),
                                         seq);
  if (key.kind == Kind::resource_slice)
    return observe_slice(state, source, key.name, as<ResourceSliceFacts>(seen), seq);
  if (key.kind == Kind::device_class)
    return observe_device_class(state, source, key.name, as<DeviceClassFacts>(seen), seq);
  if (key.kind == Kind::device_taint_rule)
    return observe_taint_rule(state, source, key.name, as<DeviceTaintRuleFacts>(seen), seq);
  if (key.kind == Kind::resource_claim)
    return observe_resource_claim(state, source, id, as<ResourceClaimFacts>(seen), seq);
  observe_claim_template(state, source, id, as<ResourceClaimTemplateFacts>(seen), seq);
}

}  // namespace

void fold_object(State& state, const SourceName& source, const ObjectKey& key,
                 const ObjectObserved* seen, Seq seq) {
  if (!is_read_from(source, key.kind)) return;
  const auto id = [&key] { return NamespacedName(key.namespace_, key.name); };
  switch (key.kind) {
    // Of a member, or of either.
    case Kind::node: return observe_node(state, source, key.name, as<NodeFacts>(seen), seq);
    case Kind::local_queue:
      return observe_local_queue(state, source, key, as<LocalQueueFacts>(seen));
    case Kind::cluster_queue:
      if (source != kHub)
        return observe_member_queue(state, source, key, as<ClusterQueueFacts>(seen), seq);
      return seen ? observe_queue(state, *seen, seq) : forget_queue(state, key.name);
    // Of the hub alone.
    case Kind::cluster_metrics:
      return observe_metrics(state, key.name, as<ClusterMetricsFacts>(seen), seq);
    case Kind::managed_cluster:
      return observe_managed_cluster(state, key.name, as<ManagedClusterFacts>(seen), seq);
    case Kind::resource_flavor:
      observe_flavor(state, key.name, as<ResourceFlavorFacts>(seen), seq);
      state.all_open = state.searches.all_open = true;
      return;
    case Kind::cohort: return observe_cohort(state, key.name, as<CohortFacts>(seen), seq);
    case Kind::claim:
      return seen ? observe_claim(state, *seen, seq) : forget_claim(state, key.name);
    case Kind::manifest_work:
      return seen ? observe_work(state, *seen, seq) : forget_work(state, key);
    case Kind::binding_policy:
      return seen ? observe_policy(state, *seen, seq) : forget_policy(state, key);
    case Kind::cluster_profile:
      observe_profile(state, key, as<ClusterProfileFacts>(seen));
      return observe_profile_of_kueue(state, id(), record<ClusterProfileFacts>(seen, seq));
    case Kind::placement:
      return observe_placement(state, id(), record<PlacementFacts>(seen, seq), seq);
    case Kind::placement_decision:
      return observe_decision(state, id(), record<PlacementDecisionFacts>(seen, seq), seq);
    case Kind::addon_placement_score:
      return observe_score(state, id(), record<AddOnPlacementScoreFacts>(seen, seq), seq);
    case Kind::secret: return observe_secret(state, id(), record<SecretFacts>(seen, seq));
    case Kind::multikueue_config:
      observe_config(state, key.name, record<MultiKueueConfigFacts>(seen, seq), seq);
      return mark_users_of_checks_dirty(state);
    case Kind::multikueue_cluster:
      return observe_worker(state, key.name, record<MultiKueueClusterFacts>(seen, seq), seq);
    case Kind::admission_check:
      observe_check(state, key.name, record<AdmissionCheckFacts>(seen, seq), seq);
      return mark_users_of_checks_dirty(state);
    case Kind::workload:
      return observe_workload(state, id(), record<WorkloadFacts>(seen, seq), seq);
    case Kind::custom_resource_definition:
      return observe_crd(state, key.name, record<CustomResourceDefinitionFacts>(seen, seq));
    case Kind::mutating_admission_policy:
      return observe_admission_policy(state, key.name,
                                      record<MutatingAdmissionPolicyFacts>(seen, seq), seq);
    case Kind::virtual_cluster:
    case Kind::namespace_:
    case Kind::resource_quota:
    case Kind::pod:
    case Kind::config_map: return fold_pool_object(state, source, key, seen, seq);
    case Kind::resource_slice:
    case Kind::device_class:
    case Kind::device_taint_rule:
    case Kind::resource_claim:
    case Kind::resource_claim_template: return fold_device_object(state, source, key, seen, seq);
    case Kind::fleet_resource_class:
    case Kind::fleet_resource_claim:
    case Kind::fleet_resource_claim_template:
    case Kind::fleet_scheduling: return fold_fleet_object(state, key, seen, seq);
  }
}

}  // namespace fairlead
