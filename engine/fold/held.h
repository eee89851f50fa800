// Looks up one object in State, and walks all objects of a kind. Each part of State names the
// tables of its kinds (`table_of`, beside the part). This header has the lookup and the walk over
// any table, and overloads for the kinds without a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/fold/members/works.h"
#include "engine/fold/pool/lookup.h"
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

template <IsFacts F, class Part, class... Parts>
auto& table_in(KindOf<F> kind, Part& part, Parts&... others) {
  if constexpr (requires { table_of(kind, part); })
    return table_of(kind, part);
  else
    return table_in(kind, others...);
}
/// Returns the table of a kind of the hub, of a cluster or of a tenant's namespace. Does not
/// compile for a kind without one.
template <IsFacts F>
auto& table_of(KindOf<F> kind, Of<State> auto& state) {
  return table_in(kind, state.flavors, state.queues, state.claims, state.multikueue, state.pool,
                  state.fleet);
}
template <IsFacts F>
auto& table_of(KindOf<F> kind, const Cluster& cluster) {
  return table_in(kind, cluster.reports, cluster.member, cluster.devices);
}

/// Returns what is held of an entry of a table; null if its object is only remembered.
template <class Entry>
const auto* record_of(const Entry& entry) {
  if constexpr (requires { entry.seen; })
    return &entry.seen;
  else if constexpr (requires { entry.present; })
    return entry.present ? &entry : nullptr;
  else
    return &entry;
}
/// Returns that of the object `key`; null if there is none.
template <class Table>
const auto* find_record(const Table& table, const ObjectKey& key) {
  using Record = decltype(record_of(std::declval<const typename Table::mapped_type&>()));
  if constexpr (requires { table.find(NamespacedName()); }) {
    const auto at = table.find(NamespacedName(key.namespace_, key.name));
    return at == table.end() ? Record() : record_of(at->second);
  } else if constexpr (requires { table.sorted(); }) {
    const auto* const entry = table.find(key.name);
    return entry ? record_of(*entry) : Record();
  } else {
    const auto at = table.find(key.name);
    return at == table.end() ? Record() : record_of(at->second);
  }
}

// The record of an object: a pointer or an optional, empty if State holds no such object. By the
// API server that it is of; overloads for the kinds without a table of their own.
template <IsFacts F>
auto held_of_hub(KindOf<F> kind, const State& state, const ObjectKey& key) {
  return find_record(table_of(kind, state), key);
}
std::optional<HeldMetrics> held_of_hub(KindOf<ClusterMetricsFacts>, const State& state,
                                       const ObjectKey& key);
const ManagedClusterFacts* held_of_hub(KindOf<ManagedClusterFacts>, const State& state,
                                       const ObjectKey& key);
const ResourceFlavorFacts* held_of_hub(KindOf<ResourceFlavorFacts>, const State& state,
                                       const ObjectKey& key);
const Work* held_of_hub(KindOf<ManifestWorkFacts>, const State& state, const ObjectKey& key);
const Policy* held_of_hub(KindOf<BindingPolicyFacts>, const State& state, const ObjectKey& key);

template <IsFacts F>
auto held_of_member(KindOf<F> kind, const State& state, const SourceName& source,
                    const ObjectKey& key) {
  const auto at = state.clusters.find(source);
  using Record = decltype(find_record(table_of(kind, at->second), key));
  return at == state.clusters.end() ? Record() : find_record(table_of(kind, at->second), key);
}
std::optional<HeldMemberLocalQueue> held_of_member(KindOf<LocalQueueFacts>, const State& state,
                                                   const SourceName& source, const ObjectKey& key);
const Observed<NamespaceFacts>* held_of_member(KindOf<NamespaceFacts>, const State& state,
                                               const SourceName& source, const ObjectKey& key);
const Observed<ConfigMapFacts>* held_of_member(KindOf<ConfigMapFacts>, const State& state,
                                               const SourceName& source, const ObjectKey& key);

template <IsFacts F>
auto held_of_tenant(KindOf<F> kind, const State& state, const SourceName& source,
                    const ObjectKey& key) {
  const PoolNamespace* const of =
      find_namespace(state.pool, {std::string(tenant_of(source)), key.namespace_});
  using Record = decltype(find_record(table_of(kind, *of), key));
  return of ? find_record(table_of(kind, *of), key) : Record();
}
const Observed<NamespaceFacts>* held_of_tenant(KindOf<NamespaceFacts>, const State& state,
                                               const SourceName& source, const ObjectKey& key);

/// Calls `found` with the record of the object `key` of the API server `source` and returns what it
/// returns; `none` if State holds no such object. A record is what the kind's table has, of an
/// entry with a member `seen` that one; HeldMetrics, HeldMemberLocalQueue; or the facts alone.
template <class Result, class Found>
Result with_held(const State& state, const SourceName& source, const ObjectKey& key, Result none,
                 Found&& found) {
  const auto call = [&](const auto& record) -> Result { return record ? found(*record) : none; };
  return with_kind<Result>(key.kind, [&]<class F>(KindOf<F> kind) -> Result {
    constexpr KindInfo row = info(kKindOf<F>);
    if (is_tenant(source)) {
      if constexpr (row.has(kIsOfTenant)) return call(held_of_tenant(kind, state, source, key));
    } else if (source == kHub) {
      if constexpr (row.has(kIsOfHub)) return call(held_of_hub(kind, state, key));
    } else {
      if constexpr (row.has(kIsOfMember)) return call(held_of_member(kind, state, source, key));
    }
    return none;
  });
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
/// Returns how many Workloads State holds of the API server.
std::size_t held_workloads(const State& state, const SourceName& source);
/// Returns every object of `kind` that State holds of the API server `source`, in order.
std::vector<ObjectKey> held_objects(const State& state, const SourceName& source, Kind kind);

}  // namespace fairlead
