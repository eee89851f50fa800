#include "engine/fold/held.h"

#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

template <class Map>
void add_names(std::vector<ObjectKey>& keys, Kind kind, const Map& map) {
  for (const auto& [name, value] : map) keys.push_back({kind, "", name});
}

template <class Map>
void add_namespaced(std::vector<ObjectKey>& keys, Kind kind, const Map& map) {
  for (const auto& [id, value] : map) keys.push_back({kind, id.first, id.second});
}

std::vector<ObjectKey> held_of_tenant(const State& state, const SourceName& source, Kind kind) {
  std::vector<ObjectKey> keys;
  const auto tenant = state.pool.tenants.find(std::string(tenant_of(source)));
  if (tenant == state.pool.tenants.end()) return keys;
  for (const auto& [name, of] : tenant->second.namespaces) {
    if (kind == Kind::namespace_ && of.seen) keys.push_back({kind, "", name});
    if (kind == Kind::resource_quota)
      for (const auto& [quota, seen] : of.quotas) keys.push_back({kind, name, quota});
    if (kind == Kind::pod)
      for (const auto& [pod, record] : of.pods) keys.push_back({kind, name, pod});
    if (kind == Kind::resource_claim)
      for (const auto& [claim, record] : of.claims) keys.push_back({kind, name, claim});
    if (kind == Kind::resource_claim_template)
      for (const auto& [made, record] : of.templates) keys.push_back({kind, name, made});
  }
  return keys;
}

void add_of_super_cluster(std::vector<ObjectKey>& keys, const Pool& pool, const SourceName& source,
                          Kind kind) {
  if (kind == Kind::config_map && pool.infos.contains(source))
    keys.push_back({kind, std::string(kSuperClusterInfoNamespace), std::string(kSuperClusterInfo)});
  if (kind != Kind::namespace_) return;
  for (auto at = pool.super_namespaces.lower_bound({source, ""});
       at != pool.super_namespaces.end() && at->first.first == source; ++at)
    keys.push_back({kind, "", at->first.second});
}

void add_devices(std::vector<ObjectKey>& keys, const DeviceObjects& devices, Kind kind) {
  if (kind == Kind::resource_slice)
    for (const auto* entry : devices.slices.sorted()) keys.push_back({kind, "", entry->first});
  if (kind == Kind::device_class) add_names(keys, kind, devices.classes);
  if (kind == Kind::device_taint_rule) add_names(keys, kind, devices.rules);
  if (kind == Kind::resource_claim) add_namespaced(keys, kind, devices.claims);
  if (kind == Kind::resource_claim_template) add_namespaced(keys, kind, devices.templates);
}

std::vector<ObjectKey> held_of_member(const State& state, const SourceName& source, Kind kind) {
  std::vector<ObjectKey> keys;
  add_of_super_cluster(keys, state.pool, source, kind);
  const auto at = state.clusters.find(source);
  if (at == state.clusters.end()) return keys;
  if (kind == Kind::node)
    for (const auto* entry : at->second.reports.nodes.sorted())
      keys.push_back({kind, "", entry->first});
  if (kind == Kind::cluster_queue) add_names(keys, kind, at->second.member.queues);
  if (kind == Kind::local_queue) add_namespaced(keys, kind, at->second.member.local_queues);
  if (kind == Kind::pod) add_namespaced(keys, kind, at->second.devices.pods);
  add_devices(keys, at->second.devices, kind);
  return keys;
}

// Kinds whose objects State holds as a part of a cluster.
std::vector<ObjectKey> held_of_clusters(const State& state, Kind kind) {
  std::vector<ObjectKey> keys;
  for (const auto& [name, cluster] : state.clusters) {
    if (kind == Kind::cluster_metrics && cluster.reports.metrics_known)
      keys.push_back({kind, "", name});
    if (kind == Kind::managed_cluster && cluster.presence.managed) keys.push_back({kind, "", name});
    if (kind == Kind::cluster_profile)
      for (const auto& [namespace_, profile] : cluster.presence.profiles)
        keys.push_back({kind, namespace_, profile});
    if (kind == Kind::manifest_work && cluster.member.quota_work.present)
      keys.push_back({kind, name, std::string(kQuotaWork)});
    if (kind == Kind::manifest_work && cluster.member.queue_work.present)
      keys.push_back({kind, name, std::string(kQueueWork)});
    if (kind == Kind::binding_policy && cluster.member.policy.present)
      keys.push_back({kind, "", policy_name(name)});
  }
  return keys;
}

struct HeldOf {
  Held operator()(const Queue& queue) const { return all(queue); }
  Held operator()(const Claim& claim) const { return all(claim); }
  Held operator()(const Work& work) const { return all(work); }
  Held operator()(const Policy& policy) const { return all(policy); }
  Held operator()(const MemberPod& pod) const { return {pod.uid, "", 0}; }
  template <class F>
  Held operator()(const Observed<F>& seen) const {
    return all(seen);
  }
  template <class Record>
  Held operator()(const Record&) const {
    return {};
  }

 private:
  template <class Record>
  static Held all(const Record& record) {
    return {record.uid, record.resource_version, record.generation};
  }
};

struct FactsOf {
  using Optional = std::optional<Facts>;

  Optional operator()(const HeldMetrics&) const { return std::nullopt; }
  Optional operator()(const MemberQueue&) const { return std::nullopt; }
  Optional operator()(const HeldMemberLocalQueue&) const { return std::nullopt; }
  Optional operator()(const MemberPod&) const { return std::nullopt; }
  Optional operator()(const ManagedClusterFacts& facts) const { return facts; }
  Optional operator()(const ResourceFlavorFacts& facts) const { return facts; }
  Optional operator()(const LocalQueueFacts& facts) const { return facts; }
  template <class Record>
  Optional operator()(const Record& record) const {
    return record.facts;
  }
};

}  // namespace

std::optional<Held> held(const State& state, const SourceName& source, const ObjectKey& key) {
  return with_held(state, source, key, std::optional<Held>(),
                   [](const auto& record) { return std::optional(HeldOf()(record)); });
}

std::optional<Facts> held_facts(const State& state, const SourceName& source,
                                const ObjectKey& key) {
  return with_held(state, source, key, std::optional<Facts>(), FactsOf());
}

std::vector<ObjectKey> held_objects(const State& state, const SourceName& source, Kind kind) {
  if (is_tenant(source)) return held_of_tenant(state, source, kind);
  if (source != kHub) return held_of_member(state, source, kind);
  std::vector<ObjectKey> keys;
  switch (kind) {
    case Kind::node:
    case Kind::namespace_:
    case Kind::resource_quota:
    case Kind::pod:
    case Kind::config_map:
    case Kind::resource_slice:
    case Kind::device_class:
    case Kind::resource_claim:
    case Kind::device_taint_rule: return keys;  // of members and tenants only
    case Kind::cluster_metrics:
    case Kind::managed_cluster:
    case Kind::cluster_profile:
    case Kind::manifest_work:
    case Kind::binding_policy: return held_of_clusters(state, kind);
    case Kind::resource_flavor:
      for (const auto& [name, flavor] : state.flavors)
        if (flavor_exists(state, name)) keys.push_back({kind, "", name});
      break;
    case Kind::cluster_queue:
      for (const auto& [name, queue] : state.queues)
        if (queue.present) keys.push_back({kind, "", name});
      break;
    case Kind::local_queue: add_namespaced(keys, kind, state.local_queues); break;
    case Kind::admission_check: add_names(keys, kind, state.multikueue.checks); break;
    case Kind::multikueue_config: add_names(keys, kind, state.multikueue.configs); break;
    case Kind::multikueue_cluster: add_names(keys, kind, state.multikueue.clusters); break;
    case Kind::placement: add_namespaced(keys, kind, state.multikueue.placements); break;
    case Kind::placement_decision: add_namespaced(keys, kind, state.multikueue.decisions); break;
    case Kind::addon_placement_score: add_namespaced(keys, kind, state.multikueue.scores); break;
    case Kind::workload: add_namespaced(keys, kind, state.multikueue.workloads); break;
    case Kind::secret: add_namespaced(keys, kind, state.multikueue.secrets); break;
    case Kind::custom_resource_definition: add_names(keys, kind, state.multikueue.crds); break;
    case Kind::claim: add_names(keys, kind, state.claims); break;
    case Kind::cohort: add_names(keys, kind, state.cohorts); break;
    case Kind::mutating_admission_policy:
      add_names(keys, kind, state.multikueue.admission_policies);
      break;
    case Kind::virtual_cluster: add_namespaced(keys, kind, state.pool.virtual_clusters); break;
    case Kind::resource_claim_template:
      add_namespaced(keys, kind, state.fleet.device_templates);
      break;
    case Kind::fleet_resource_class: add_names(keys, kind, state.fleet.classes); break;
    case Kind::fleet_resource_claim: add_namespaced(keys, kind, state.fleet.claims); break;
    case Kind::fleet_resource_claim_template:
      add_namespaced(keys, kind, state.fleet.templates);
      break;
    case Kind::fleet_scheduling: add_namespaced(keys, kind, state.fleet.schedulings); break;
  }
  return keys;
}

}  // namespace fairlead
