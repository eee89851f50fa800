#include "engine/fold/objects.h"

#include "engine/base/check.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/devices/observe_devices.h"
#include "engine/fold/fleet_claims/observe_fleet_claims.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/members/works.h"
#include "engine/fold/multikueue/observe_multikueue.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/fold/pool/tenants.h"
#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/queues/worker_quota.h"

namespace fairlead {

namespace {

void mark_users_of_checks_dirty(State& state) {
  for (const auto& [name, queue] : state.queues.by_name)
    if (!queue.facts.admission_checks.empty()) mark_queue_dirty(state, name);
}

void observe_resource_flavor(State& state, const std::string& name,
                             const ResourceFlavorFacts* facts, Seq seq) {
  observe_flavor(state, name, facts, seq);
  state.all_dirty = state.searches.all_dirty = true;
}

void observe_topology(State& state, const std::string& name, const TopologyFacts* facts) {
  if (facts)
    state.flavors.topologies[name] = *facts;
  else
    state.flavors.topologies.erase(name);
  state.all_dirty = true;
}

void observe_local_queue(State& state, const NamespacedName& id, const LocalQueueFacts* facts) {
  // Both queues are marked: the object may have been made anew for another ClusterQueue between two
  // observations.
  if (const auto at = state.queues.local.find(id); at != state.queues.local.end())
    mark_queue_dirty(state, at->second.cluster_queue);
  if (facts) {
    // Whether it admits is Kueue's matter on the hub: only where it points is kept.
    state.queues.local[id] = {facts->cluster_queue, {}, {}};
    mark_queue_dirty(state, facts->cluster_queue);
  } else {
    state.queues.local.erase(id);
  }
}

void observe_member_local_queue(State& state, const std::string& source, const NamespacedName& id,
                                const LocalQueueFacts* facts) {
  Cluster& cluster = mark_cluster_dirty(state, source);
  if (facts)
    cluster.member.local_queues[id] = *facts;
  else
    cluster.member.local_queues.erase(id);
  mark_followers_dirty(state);
}

// Folds a ClusterQueue of a watched member: its usage, and the quota that hub queues may follow.
void observe_member_queue(State& state, const std::string& source, const ObjectKey& key,
                          const ClusterQueueFacts* facts, Seq seq) {
  Cluster& cluster = mark_cluster_dirty(state, source);
  if (facts) {
    MemberQueue& queue = cluster.member.queues[key.name];
    if (queue.groups != facts->groups || queue.stop_policy != facts->stop_policy ||
        queue.active != facts->active.status || queue.reason != facts->active.reason)
      mark_followers_dirty(state);
    queue = {facts->groups,        facts->usage,      seq, facts->effective, facts->active.status,
             facts->active.reason, facts->stop_policy};
  } else {
    cluster.member.queues.erase(key.name);
    mark_followers_dirty(state);
  }
  recompute_member_queue(state, source, key.name, DeviationSource::member);
  observe_queue_at_member(state, source, key.name);
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

// The kinds of a tenant of the super cluster pool.
void fold_of_tenant(State& state, const SourceName& source, TenantKind kind, const ObjectKey& key,
                    const ObjectObserved* seen, Seq seq) {
  const NamespacedName id(key.namespace_, key.name);
  switch (kind) {
    case TenantKind::namespace_:
      return observe_tenant_namespace(state, source, key.name, record<NamespaceFacts>(seen, seq));
    case TenantKind::resource_quota:
      return observe_tenant_quota(state, source, id, record<ResourceQuotaFacts>(seen, seq));
    case TenantKind::pod: return observe_tenant_pod(state, source, id, record<PodFacts>(seen, seq));
    case TenantKind::resource_claim:
      return observe_tenant_claim(state, source, id, as<ResourceClaimFacts>(seen), seq);
    case TenantKind::resource_claim_template:
      return observe_tenant_template(state, source, id, as<ResourceClaimTemplateFacts>(seen), seq);
  }
}

// The kinds of a member, which may be a super cluster.
void fold_of_member(State& state, const SourceName& source, MemberKind kind, const ObjectKey& key,
                    const ObjectObserved* seen, Seq seq) {
  const auto id = [&key] { return NamespacedName(key.namespace_, key.name); };
  switch (kind) {
    case MemberKind::node: return observe_node(state, source, key.name, as<NodeFacts>(seen), seq);
    case MemberKind::cluster_queue:
      return observe_member_queue(state, source, key, as<ClusterQueueFacts>(seen), seq);
    case MemberKind::local_queue:
      return observe_member_local_queue(state, source, id(), as<LocalQueueFacts>(seen));
    case MemberKind::namespace_:
      return observe_super_namespace(state, source, key.name, record<NamespaceFacts>(seen, seq));
    case MemberKind::config_map:
      return observe_super_cluster_info(state, source, key, record<ConfigMapFacts>(seen, seq));
    case MemberKind::pod:
      return observe_member_pod(state, source, id(), record<PodFacts>(seen, seq), seq);
    case MemberKind::resource_slice:
      return observe_slice(state, source, key.name, as<ResourceSliceFacts>(seen), seq);
    case MemberKind::device_class:
      return observe_device_class(state, source, key.name, as<DeviceClassFacts>(seen), seq);
    case MemberKind::device_taint_rule:
      return observe_taint_rule(state, source, key.name, as<DeviceTaintRuleFacts>(seen), seq);
    case MemberKind::resource_claim:
      return observe_resource_claim(state, source, id(), as<ResourceClaimFacts>(seen), seq);
    case MemberKind::resource_claim_template:
      return observe_claim_template(state, source, id(), as<ResourceClaimTemplateFacts>(seen), seq);
  }
}

// The kinds of the hub.
void fold_of_hub(State& state, const ObjectKey& key, const ObjectObserved* seen, Seq seq) {
  const auto id = [&key] { return NamespacedName(key.namespace_, key.name); };
  switch (key.kind) {
    case Kind::local_queue: return observe_local_queue(state, id(), as<LocalQueueFacts>(seen));
    case Kind::cluster_queue:
      return seen ? observe_queue(state, *seen, seq) : forget_queue(state, key.name);
    case Kind::cluster_metrics:
      return observe_metrics(state, key.name, as<ClusterMetricsFacts>(seen), seq);
    case Kind::managed_cluster:
      return observe_managed_cluster(state, key.name, as<ManagedClusterFacts>(seen), seq);
    case Kind::resource_flavor:
      return observe_resource_flavor(state, key.name, as<ResourceFlavorFacts>(seen), seq);
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
      return observe_virtual_cluster(state, id(), record<VirtualClusterFacts>(seen, seq));
    case Kind::resource_claim_template:
      return observe_booked_template(state, id(), record<ResourceClaimTemplateFacts>(seen, seq));
    case Kind::fleet_resource_class:
      return observe_fleet_class(state, key.name, record<FleetResourceClassFacts>(seen, seq));
    case Kind::fleet_resource_claim:
      return observe_fleet_claim(state, id(), record<FleetResourceClaimFacts>(seen, seq), seq);
    case Kind::fleet_resource_claim_template:
      return observe_fleet_template(state, id(),
                                    record<FleetResourceClaimTemplateFacts>(seen, seq));
    case Kind::fleet_scheduling:
      return observe_fleet_scheduling(state, id(), record<FleetSchedulingFacts>(seen, seq));
    case Kind::topology: return observe_topology(state, key.name, as<TopologyFacts>(seen));
    case Kind::node:
    case Kind::namespace_:
    case Kind::resource_quota:
    case Kind::pod:
    case Kind::config_map:
    case Kind::resource_slice:
    case Kind::device_class:
    case Kind::device_taint_rule:
    case Kind::resource_claim: break;
  }
  check(false, "the kind is read of the hub");
}

}  // namespace

void fold_object(State& state, const SourceName& source, const ObjectKey& key,
                 const ObjectObserved* seen, Seq seq) {
  const KindReading reading = reading_of(key.kind);
  if (is_tenant(source)) {
    if (reading.of_tenant) fold_of_tenant(state, source, *reading.of_tenant, key, seen, seq);
  } else if (source == kHub) {
    if (reading.of_hub) fold_of_hub(state, key, seen, seq);
  } else if (reading.of_member) {
    fold_of_member(state, source, *reading.of_member, key, seen, seq);
  }
}

}  // namespace fairlead
