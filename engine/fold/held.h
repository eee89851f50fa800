// What State holds of one object, and of all objects of a kind: where the record of each kind is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/fold/capacity/flavors.h"
#include "engine/fold/members/works.h"
#include "engine/fold/state.h"

namespace fairlead {

/// The ClusterMetrics of a cluster, of which State keeps the nodes.
struct HeldMetrics {
  const Cluster& cluster;
};
/// A LocalQueue of a member, of which State keeps its ClusterQueue.
struct HeldMemberLocalQueue {
  const std::string& cluster_queue;
};

/// A ResourceSlice of a member.
struct HeldSlice {
  const ResourceSliceFacts& facts;
};

/// What with_held does for a LocalQueue of a member, and for a ManifestWork of ours.
template <class Result, class Found>
Result with_local_queue(const Cluster& of, const std::pair<std::string, std::string>& id,
                        const Result& none, const Found& found) {
  const auto entry = of.member.local_queues.find(id);
  return entry == of.member.local_queues.end() ? none : found(HeldMemberLocalQueue{entry->second});
}
template <class Result, class Present>
Result with_work(const ClusterMember& member, const std::string& name, const Result& none,
                 const Present& present) {
  if (name == kQuotaWork) return present(member.quota_work);
  return name == kQueueWork ? present(member.queue_work) : none;
}

/// How with_held looks a record up; each function calls `found` with it, or returns `none`.
template <class Result, class Found>
struct HeldLookup {
  const Result& none;
  Found& found;

  /// An entry of a map.
  template <class Map, class Id>
  Result in(const Map& map, const Id& id) const {
    const auto entry = map.find(id);
    if (entry == map.end()) return none;
    if constexpr (requires { entry->second.seen; })
      return found(entry->second.seen);
    else
      return found(entry->second);
  }
  /// A record that says whether its object is there.
  template <class Record>
  Result present(const Record& record) const {
    return record.present ? found(record) : none;
  }
  /// An entry of a map of those.
  template <class Map, class Id>
  Result present_in(const Map& map, const Id& id) const {
    const auto entry = map.find(id);
    return entry == map.end() ? none : present(entry->second);
  }
  /// A pointer or an optional.
  template <class Record>
  Result at(const Record& record) const {
    return record ? found(*record) : none;
  }
};

/// What with_held does for the kinds of the super cluster pool. `in` looks one record of a map up.
template <class Result, class In, class Found>
Result with_held_of_pool(const Pool& pool, const SourceName& source, const ObjectKey& key,
                         const Result& none, const In& in, const Found& found) {
  if (key.kind == Kind::virtual_cluster)
    return in(pool.virtual_clusters, std::pair{key.namespace_, key.name});
  if (key.kind == Kind::config_map) return in(pool.infos, source);
  if (!is_tenant(source))
    return key.kind == Kind::namespace_ ? in(pool.super_namespaces, std::pair{source, key.name})
                                        : none;
  const auto tenant = pool.tenants.find(std::string(tenant_of(source)));
  if (tenant == pool.tenants.end()) return none;
  const auto& namespaces = tenant->second.namespaces;
  if (key.kind == Kind::namespace_) {
    const auto at = namespaces.find(key.name);
    return at == namespaces.end() || !at->second.seen ? none : found(*at->second.seen);
  }
  const auto at = namespaces.find(key.namespace_);
  if (at == namespaces.end()) return none;
  const PoolNamespace& of = at->second;
  if (key.kind == Kind::pod) return in(of.pods, key.name);
  if (key.kind == Kind::resource_claim) return in(of.claims, key.name);
  if (key.kind == Kind::resource_claim_template) return in(of.templates, key.name);
  return in(of.quotas, key.name);
}

/// What with_held does for the kinds of resource.k8s.io: of the hub, templates of claims. `in`
/// looks one record of a map up.
template <class Result, class In, class Found>
Result with_held_device(const State& state, const SourceName& source, const ObjectKey& key,
                        const Result& none, const In& in, const Found& found) {
  if (is_tenant(source)) return with_held_of_pool(state.pool, source, key, none, in, found);
  const std::pair id{key.namespace_, key.name};
  if (source == kHub) return in(state.fleet.device_templates, id);
  const auto entry = state.clusters.find(source);
  if (entry == state.clusters.end()) return none;
  const DeviceObjects& devices = entry->second.devices;
  if (key.kind == Kind::resource_slice) {
    const SliceRecord* slice = devices.slices.find(key.name);
    return slice ? found(HeldSlice{*slice->facts}) : none;
  }
  if (key.kind == Kind::device_class) return in(devices.classes, key.name);
  if (key.kind == Kind::device_taint_rule) return in(devices.rules, key.name);
  if (key.kind == Kind::resource_claim) return in(devices.claims, id);
  return in(devices.templates, id);
}

/// What with_held does for the kinds of fleet claims.
template <class In>
auto with_held_fleet_object(const FleetClaims& fleet, const ObjectKey& key, const In& in) {
  const std::pair id{key.namespace_, key.name};
  if (key.kind == Kind::fleet_resource_class) return in(fleet.classes, key.name);
  if (key.kind == Kind::fleet_resource_claim) return in(fleet.claims, id);
  if (key.kind == Kind::fleet_scheduling) return in(fleet.schedulings, id);
  return in(fleet.templates, id);
}

/// Calls `found` with the record of the object `key` of the API server `source` and returns what it
/// returns; `none` if State holds no such object. The records: NodeRecord, HeldMetrics,
/// ManagedClusterFacts, ResourceFlavorFacts, Queue, MemberQueue, LocalQueueFacts,
/// HeldMemberLocalQueue, Work, Policy, Claim, Cohort, MemberPod, HeldSlice, DeviceRecord of the
/// other kinds of devices, and Observed of every kind of the MultiKueue path and of the pool.
template <class Result, class Found>
Result with_held(const State& state, const SourceName& source, const ObjectKey& key, Result none,
                 Found&& found) {
  const HeldLookup<Result, Found> look{none, found};
  const auto in = [&](const auto& map, const auto& id) { return look.in(map, id); };
  const auto present = [&](const auto& record) { return look.present(record); };
  const auto cluster = [&](const std::string& name, auto&& use) -> Result {
    const auto entry = state.clusters.find(name);
    return entry == state.clusters.end() ? none : use(entry->second);
  };
  const auto id = [&] { return std::pair{key.namespace_, key.name}; };
  switch (key.kind) {
    case Kind::node:
      return cluster(source,
                     [&](const auto& of) { return look.at(of.reports.nodes.find(key.name)); });
    case Kind::cluster_metrics:
      return cluster(key.name, [&](const Cluster& of) -> Result {
        return of.reports.metrics_known ? found(HeldMetrics{of}) : none;
      });
    case Kind::managed_cluster:
      return cluster(key.name, [&](const Cluster& of) { return look.at(of.presence.managed); });
    case Kind::resource_flavor:
      return flavor_exists(state, key.name) ? in(state.flavors, key.name) : none;
    case Kind::cluster_queue:
      if (source == kHub) return look.present_in(state.queues, key.name);
      return cluster(source, [&](const Cluster& of) { return in(of.member.queues, key.name); });
    case Kind::local_queue:
      if (source == kHub) return in(state.local_queues, id());
      return cluster(source,
                     [&](const auto& of) { return with_local_queue(of, id(), none, found); });
    case Kind::manifest_work:
      return cluster(key.namespace_, [&](const Cluster& of) {
        return with_work(of.member, key.name, none, present);
      });
    case Kind::binding_policy:
      return cluster(cluster_of_policy(key.name),
                     [&](const Cluster& of) { return present(of.member.policy); });
    case Kind::claim: return in(state.claims, key.name);
    case Kind::cohort: return in(state.cohorts, key.name);
    case Kind::cluster_profile: return in(state.multikueue.profiles, id());
    case Kind::placement: return in(state.multikueue.placements, id());
    case Kind::placement_decision: return in(state.multikueue.decisions, id());
    case Kind::addon_placement_score: return in(state.multikueue.scores, id());
    case Kind::secret: return in(state.multikueue.secrets, id());
    case Kind::workload: return in(state.multikueue.workloads, id());
    case Kind::multikueue_config: return in(state.multikueue.configs, key.name);
    case Kind::multikueue_cluster: return in(state.multikueue.clusters, key.name);
    case Kind::admission_check: return in(state.multikueue.checks, key.name);
    case Kind::custom_resource_definition: return in(state.multikueue.crds, key.name);
    case Kind::mutating_admission_policy: return in(state.multikueue.admission_policies, key.name);
    case Kind::virtual_cluster:
    case Kind::namespace_:
    case Kind::resource_quota:
    case Kind::config_map: return with_held_of_pool(state.pool, source, key, none, in, found);
    case Kind::pod:
      if (is_tenant(source)) return with_held_of_pool(state.pool, source, key, none, in, found);
      return cluster(source, [&](const Cluster& of) { return in(of.devices.pods, id()); });
    case Kind::resource_slice:
    case Kind::device_class:
    case Kind::device_taint_rule:
    case Kind::resource_claim:
    case Kind::resource_claim_template:
      return with_held_device(state, source, key, none, in, found);
    case Kind::fleet_resource_class:
    case Kind::fleet_resource_claim:
    case Kind::fleet_resource_claim_template:
    case Kind::fleet_scheduling: return with_held_fleet_object(state.fleet, key, in);
  }
  return none;
}

/// What names one state of an object. Empty texts and 0 where State does not keep them. The texts
/// are those of State.
struct Held {
  std::string_view uid;
  std::string_view resource_version;
  std::int64_t generation = 0;
};
/// Returns what State holds of an object; nullopt if it holds none.
std::optional<Held> held(const State& state, const SourceName& source, const ObjectKey& key);
/// Returns its facts; nullopt if State holds none, or keeps a part of them only (HeldMetrics,
/// MemberQueue, HeldMemberLocalQueue, MemberPod).
std::optional<Facts> held_facts(const State& state, const SourceName& source, const ObjectKey& key);
/// Returns every object of `kind` that State holds of the API server `source`, in order.
std::vector<ObjectKey> held_objects(const State& state, const SourceName& source, Kind kind);

}  // namespace fairlead
