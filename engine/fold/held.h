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
/// A LocalQueue of a member, of which more counts than of one of the hub.
struct HeldMemberLocalQueue {
  const LocalQueueFacts& facts;
};

/// A ResourceSlice of a member.
struct HeldSlice {
  const ResourceSliceFacts& facts;
};

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

/// What with_held does for an object of a tenant.
template <class Result, class Found>
Result with_held_of_tenant(const Pool& pool, const SourceName& source, TenantKind kind,
                           const ObjectKey& key, const HeldLookup<Result, Found>& look) {
  const auto tenant = pool.tenants.find(std::string(tenant_of(source)));
  if (tenant == pool.tenants.end()) return look.none;
  const auto& namespaces = tenant->second.namespaces;
  const auto at = namespaces.find(kind == TenantKind::namespace_ ? key.name : key.namespace_);
  if (at == namespaces.end()) return look.none;
  const PoolNamespace& of = at->second;
  switch (kind) {
    case TenantKind::namespace_: return look.at(of.seen);
    case TenantKind::resource_quota: return look.in(of.quotas, key.name);
    case TenantKind::pod: return look.in(of.pods, key.name);
    case TenantKind::resource_claim: return look.in(of.claims, key.name);
    case TenantKind::resource_claim_template: return look.in(of.templates, key.name);
  }
  return look.none;
}

/// What with_held does for an object of a member.
template <class Result, class Found>
Result with_held_of_member(const State& state, const SourceName& source, MemberKind kind,
                           const ObjectKey& key, const HeldLookup<Result, Found>& look) {
  if (kind == MemberKind::config_map) return look.in(state.pool.infos, source);
  if (kind == MemberKind::namespace_)
    return look.in(state.pool.super_namespaces, std::pair{source, key.name});
  const auto entry = state.clusters.find(source);
  if (entry == state.clusters.end()) return look.none;
  const ClusterMember& member = entry->second.member;
  const DeviceObjects& devices = entry->second.devices;
  const auto id = [&] { return std::pair{key.namespace_, key.name}; };
  switch (kind) {
    case MemberKind::node: return look.at(entry->second.reports.nodes.find(key.name));
    case MemberKind::cluster_queue: return look.in(member.queues, key.name);
    case MemberKind::local_queue: {
      const auto queue = member.local_queues.find(id());
      return queue == member.local_queues.end() ? look.none
                                                : look.found(HeldMemberLocalQueue{queue->second});
    }
    case MemberKind::pod: return look.in(devices.pods, id());
    case MemberKind::resource_slice: {
      const SliceRecord* const slice = devices.slices.find(key.name);
      return slice ? look.found(HeldSlice{*slice->facts}) : look.none;
    }
    case MemberKind::device_class: return look.in(devices.classes, key.name);
    case MemberKind::device_taint_rule: return look.in(devices.rules, key.name);
    case MemberKind::resource_claim: return look.in(devices.claims, id());
    case MemberKind::resource_claim_template: return look.in(devices.templates, id());
    case MemberKind::config_map:
    case MemberKind::namespace_: break;  // no part of a Cluster
  }
  return look.none;
}

/// What with_held does for a ManifestWork of ours.
template <class Result, class Found>
Result with_held_work(const ClusterMember& member, const std::string& name,
                      const HeldLookup<Result, Found>& look) {
  return name == kQueueWork ? look.present(member.queue_work) : look.in(member.quota_works, name);
}

/// What with_held does for an object of the hub.
template <class Result, class Found>
Result with_held_of_hub(const State& state, const ObjectKey& key,
                        const HeldLookup<Result, Found>& look) {
  const auto cluster = [&](const std::string& name, auto&& use) -> Result {
    const auto entry = state.clusters.find(name);
    return entry == state.clusters.end() ? look.none : use(entry->second);
  };
  const auto in = [&](const auto& map, const auto& id) { return look.in(map, id); };
  const auto id = [&] { return std::pair{key.namespace_, key.name}; };
  switch (key.kind) {
    case Kind::cluster_metrics:
      return cluster(key.name, [&](const Cluster& of) -> Result {
        return of.reports.metrics_known ? look.found(HeldMetrics{of}) : look.none;
      });
    case Kind::managed_cluster:
      return cluster(key.name, [&](const Cluster& of) { return look.at(of.presence.managed); });
    case Kind::manifest_work:
      return cluster(key.namespace_,
                     [&](const Cluster& of) { return with_held_work(of.member, key.name, look); });
    case Kind::binding_policy:
      return cluster(cluster_of_policy(key.name),
                     [&](const Cluster& of) { return look.present(of.member.policy); });
    case Kind::resource_flavor:
      return flavor_exists(state, key.name) ? in(state.flavors.by_name, key.name) : look.none;
    case Kind::cluster_queue: return look.present_in(state.queues.by_name, key.name);
    case Kind::local_queue: return in(state.queues.local, id());
    case Kind::claim: return in(state.claims.by_name, key.name);
    case Kind::cohort: return in(state.queues.cohorts, key.name);
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
    case Kind::virtual_cluster: return in(state.pool.virtual_clusters, id());
    case Kind::resource_claim_template: return in(state.fleet.device_templates, id());
    case Kind::fleet_resource_class: return in(state.fleet.classes, key.name);
    case Kind::fleet_resource_claim: return in(state.fleet.claims, id());
    case Kind::fleet_resource_claim_template: return in(state.fleet.templates, id());
    case Kind::fleet_scheduling: return in(state.fleet.schedulings, id());
    case Kind::topology: return in(state.flavors.topologies, key.name);
    case Kind::node:
    case Kind::namespace_:
    case Kind::resource_quota:
    case Kind::pod:
    case Kind::config_map:
    case Kind::resource_slice:
    case Kind::device_class:
    case Kind::device_taint_rule:
    case Kind::resource_claim: break;  // of members and tenants only
  }
  return look.none;
}

/// Calls `found` with the record of the object `key` of the API server `source` and returns what it
/// returns; `none` if State holds no such object. The records: NodeRecord, HeldMetrics,
/// ManagedClusterFacts, ResourceFlavorFacts, TopologyFacts, Queue, MemberQueue, LocalQueueFacts,
/// HeldMemberLocalQueue, Work, Policy, Claim, Cohort, MemberPod, HeldSlice, DeviceRecord of the
/// other kinds of devices, and Observed of every kind of the MultiKueue path and of the pool.
template <class Result, class Found>
Result with_held(const State& state, const SourceName& source, const ObjectKey& key, Result none,
                 Found&& found) {
  const HeldLookup<Result, Found> look{none, found};
  const KindReading reading = reading_of(key.kind);
  if (is_tenant(source))
    return reading.of_tenant
               ? with_held_of_tenant(state.pool, source, *reading.of_tenant, key, look)
               : none;
  if (source == kHub) return with_held_of_hub(state, key, look);
  return reading.of_member ? with_held_of_member(state, source, *reading.of_member, key, look)
                           : none;
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
