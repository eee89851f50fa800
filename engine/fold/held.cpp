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

template <class Map>
void add_of_namespace(std::vector<ObjectKey>& keys, Kind kind, const std::string& namespace_,
                      const Map& map) {
  for (const auto& [name, value] : map) keys.push_back({kind, namespace_, name});
}

void add_of_tenant(std::vector<ObjectKey>& keys, const Pool& pool, const SourceName& source,
                   TenantKind read, Kind kind) {
  const auto tenant = pool.tenants.find(std::string(tenant_of(source)));
  if (tenant == pool.tenants.end()) return;
  for (const auto& [name, of] : tenant->second.namespaces) {
    switch (read) {
      case TenantKind::namespace_:
        if (of.seen) keys.push_back({kind, "", name});
        break;
      case TenantKind::resource_quota: add_of_namespace(keys, kind, name, of.quotas); break;
      case TenantKind::pod: add_of_namespace(keys, kind, name, of.pods); break;
      case TenantKind::resource_claim: add_of_namespace(keys, kind, name, of.claims); break;
      case TenantKind::resource_claim_template:
        add_of_namespace(keys, kind, name, of.templates);
        break;
    }
  }
}

void add_super_namespaces(std::vector<ObjectKey>& keys, const Pool& pool, const SourceName& source,
                          Kind kind) {
  for (auto at = pool.super_namespaces.lower_bound({source, ""});
       at != pool.super_namespaces.end() && at->first.first == source; ++at)
    keys.push_back({kind, "", at->first.second});
}

template <class NameTable>
void add_sorted(std::vector<ObjectKey>& keys, Kind kind, const NameTable& table) {
  for (const auto* entry : table.sorted()) keys.push_back({kind, "", entry->first});
}

void add_of_cluster(std::vector<ObjectKey>& keys, const Cluster& of, MemberKind read, Kind kind) {
  switch (read) {
    case MemberKind::node: return add_sorted(keys, kind, of.reports.nodes);
    case MemberKind::cluster_queue: return add_names(keys, kind, of.member.queues);
    case MemberKind::local_queue: return add_namespaced(keys, kind, of.member.local_queues);
    case MemberKind::pod: return add_namespaced(keys, kind, of.devices.pods);
    case MemberKind::resource_slice: return add_sorted(keys, kind, of.devices.slices);
    case MemberKind::device_class: return add_names(keys, kind, of.devices.classes);
    case MemberKind::device_taint_rule: return add_names(keys, kind, of.devices.rules);
    case MemberKind::resource_claim: return add_namespaced(keys, kind, of.devices.claims);
    case MemberKind::resource_claim_template:
      return add_namespaced(keys, kind, of.devices.templates);
    case MemberKind::namespace_:
    case MemberKind::config_map: return;  // no part of a Cluster
  }
}

void add_of_member(std::vector<ObjectKey>& keys, const State& state, const SourceName& source,
                   MemberKind read, Kind kind) {
  if (read == MemberKind::namespace_) return add_super_namespaces(keys, state.pool, source, kind);
  if (read == MemberKind::config_map) {
    if (state.pool.infos.contains(source))
      keys.push_back(
          {kind, std::string(kSuperClusterInfoNamespace), std::string(kSuperClusterInfo)});
    return;
  }
  const auto at = state.clusters.find(source);
  if (at != state.clusters.end()) add_of_cluster(keys, at->second, read, kind);
}

// The names of the clusters of which State holds the object.
template <class Holds>
void add_clusters(std::vector<ObjectKey>& keys, Kind kind, const State& state, const Holds& holds) {
  for (const auto& [name, cluster] : state.clusters)
    if (holds(cluster)) keys.push_back({kind, "", name});
}

void add_profiles(std::vector<ObjectKey>& keys, Kind kind, const State& state) {
  for (const auto& [name, cluster] : state.clusters)
    for (const auto& [namespace_, profile] : cluster.presence.profiles)
      keys.push_back({kind, namespace_, profile});
}

void add_works(std::vector<ObjectKey>& keys, Kind kind, const State& state) {
  for (const auto& [name, cluster] : state.clusters) {
    for (const auto& [work, record] : cluster.member.quota_works)
      keys.push_back({kind, name, work});
    if (cluster.member.queue_work.present) keys.push_back({kind, name, std::string(kQueueWork)});
  }
}

void add_policies(std::vector<ObjectKey>& keys, Kind kind, const State& state) {
  for (const auto& [name, cluster] : state.clusters)
    if (cluster.member.policy.present) keys.push_back({kind, "", policy_name(name)});
}

void add_of_hub(std::vector<ObjectKey>& keys, const State& state, Kind kind) {
  switch (kind) {
    case Kind::cluster_metrics:
      return add_clusters(keys, kind, state,
                          [](const Cluster& of) { return of.reports.metrics_known; });
    case Kind::managed_cluster:
      return add_clusters(keys, kind, state,
                          [](const Cluster& of) { return of.presence.managed.has_value(); });
    case Kind::cluster_profile: return add_profiles(keys, kind, state);
    case Kind::manifest_work: return add_works(keys, kind, state);
    case Kind::binding_policy: return add_policies(keys, kind, state);
    case Kind::resource_flavor:
      for (const auto& [name, flavor] : state.flavors.by_name)
        if (flavor_exists(state, name)) keys.push_back({kind, "", name});
      return;
    case Kind::cluster_queue:
      for (const auto& [name, queue] : state.queues.by_name)
        if (queue.present) keys.push_back({kind, "", name});
      return;
    case Kind::local_queue: return add_namespaced(keys, kind, state.queues.local);
    case Kind::admission_check: return add_names(keys, kind, state.multikueue.checks);
    case Kind::multikueue_config: return add_names(keys, kind, state.multikueue.configs);
    case Kind::multikueue_cluster: return add_names(keys, kind, state.multikueue.clusters);
    case Kind::placement: return add_namespaced(keys, kind, state.multikueue.placements);
    case Kind::placement_decision: return add_namespaced(keys, kind, state.multikueue.decisions);
    case Kind::addon_placement_score: return add_namespaced(keys, kind, state.multikueue.scores);
    case Kind::workload: return add_namespaced(keys, kind, state.multikueue.workloads);
    case Kind::secret: return add_namespaced(keys, kind, state.multikueue.secrets);
    case Kind::custom_resource_definition: return add_names(keys, kind, state.multikueue.crds);
    case Kind::claim: return add_names(keys, kind, state.claims.by_name);
    case Kind::cohort: return add_names(keys, kind, state.queues.cohorts);
    case Kind::mutating_admission_policy:
      return add_names(keys, kind, state.multikueue.admission_policies);
    case Kind::virtual_cluster: return add_namespaced(keys, kind, state.pool.virtual_clusters);
    case Kind::resource_claim_template:
      return add_namespaced(keys, kind, state.fleet.device_templates);
    case Kind::fleet_resource_class: return add_names(keys, kind, state.fleet.classes);
    case Kind::fleet_resource_claim: return add_namespaced(keys, kind, state.fleet.claims);
    case Kind::fleet_resource_claim_template:
      return add_namespaced(keys, kind, state.fleet.templates);
    case Kind::fleet_scheduling: return add_namespaced(keys, kind, state.fleet.schedulings);
    case Kind::topology: return add_names(keys, kind, state.flavors.topologies);
    case Kind::node:
    case Kind::namespace_:
    case Kind::resource_quota:
    case Kind::pod:
    case Kind::config_map:
    case Kind::resource_slice:
    case Kind::device_class:
    case Kind::device_taint_rule:
    case Kind::resource_claim: return;  // of members and tenants only
  }
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
  Optional operator()(const TopologyFacts& facts) const { return facts; }
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
  std::vector<ObjectKey> keys;
  const KindReading reading = reading_of(kind);
  if (source == kHub)
    add_of_hub(keys, state, kind);
  else if (is_tenant(source) && reading.of_tenant)
    add_of_tenant(keys, state.pool, source, *reading.of_tenant, kind);
  else if (!is_tenant(source) && reading.of_member)
    add_of_member(keys, state, source, *reading.of_member, kind);
  return keys;
}

}  // namespace fairlead
