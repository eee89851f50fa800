#include "engine/fold/held.h"

#include <type_traits>
#include <utility>

#include "engine/fold/capacity/flavors.h"
#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

const Cluster* find_cluster(const NameMap<Cluster>& clusters, const std::string& name) {
  const auto at = clusters.find(name);
  return at == clusters.end() ? nullptr : &at->second;
}

}  // namespace

std::optional<HeldMetrics> held_of_hub(KindOf<ClusterMetricsFacts>, const State& state,
                                       const ObjectKey& key) {
  const Cluster* const of = find_cluster(state.clusters, key.name);
  if (!of || !of->reports.metrics_known) return std::nullopt;
  return HeldMetrics{*of};
}

const ManagedClusterFacts* held_of_hub(KindOf<ManagedClusterFacts>, const State& state,
                                       const ObjectKey& key) {
  const Cluster* const of = find_cluster(state.clusters, key.name);
  return of && of->presence.managed ? &*of->presence.managed : nullptr;
}

const ResourceFlavorFacts* held_of_hub(KindOf<ResourceFlavorFacts>, const State& state,
                                       const ObjectKey& key) {
  return flavor_exists(state.flavors, key.name) ? &state.flavors.by_name.at(key.name) : nullptr;
}

const Work* held_of_hub(KindOf<ManifestWorkFacts>, const State& state, const ObjectKey& key) {
  const Cluster* const of = find_cluster(state.clusters, key.namespace_);
  if (!of) return nullptr;
  if (key.name == kQueueWork) return record_of(of->member.queue_work);
  const auto at = of->member.quota_works.find(key.name);
  return at == of->member.quota_works.end() ? nullptr : &at->second;
}

const Policy* held_of_hub(KindOf<BindingPolicyFacts>, const State& state, const ObjectKey& key) {
  const Cluster* const of = find_cluster(state.clusters, cluster_of_policy(key.name));
  return of ? record_of(of->member.policy) : nullptr;
}

std::optional<HeldMemberLocalQueue> held_of_member(KindOf<LocalQueueFacts> kind, const State& state,
                                                   const SourceName& source, const ObjectKey& key) {
  const Cluster* const of = find_cluster(state.clusters, source);
  const LocalQueueFacts* const facts = of ? find_record(table_of(kind, *of), key) : nullptr;
  if (!facts) return std::nullopt;
  return HeldMemberLocalQueue{*facts};
}

const Observed<NamespaceFacts>* held_of_member(KindOf<NamespaceFacts>, const State& state,
                                               const SourceName& source, const ObjectKey& key) {
  return find_record(state.pool.super_namespaces, {key.kind, source, key.name});
}

const Observed<ConfigMapFacts>* held_of_member(KindOf<ConfigMapFacts>, const State& state,
                                               const SourceName& source, const ObjectKey& key) {
  return find_record(state.pool.infos, {key.kind, "", source});
}

const Observed<NamespaceFacts>* held_of_tenant(KindOf<NamespaceFacts>, const State& state,
                                               const SourceName& source, const ObjectKey& key) {
  const PoolNamespace* const of =
      find_namespace(state.pool, {std::string(tenant_of(source)), key.name});
  return of && of->seen ? &*of->seen : nullptr;
}

namespace {

/// The objects of one kind as they are collected. `key_in` is the key of an entry of a table whose
/// names are those of `namespace_`, or of objects without one.
template <class F>
struct Listing {
  std::vector<ObjectKey>& keys;

  static ObjectKey key_in(const std::string& namespace_, const std::string& name) {
    return {kKindOf<F>, namespace_, name};
  }
  static ObjectKey key_in(const std::string&, const NamespacedName& id) {
    return {kKindOf<F>, id.first, id.second};
  }
  template <class Table>
  void add_all(const Table& table, const std::string& namespace_ = "") {
    if constexpr (requires { table.sorted(); }) {
      for (const auto* entry : table.sorted()) keys.push_back(key_in(namespace_, entry->first));
    } else {
      for (const auto& [id, entry] : table)
        if (record_of(entry)) keys.push_back(key_in(namespace_, id));
    }
  }
  void add_if_held(const State& state, ObjectKey key) {
    if (held_of_hub(KindOf<F>(), state, key)) keys.push_back(std::move(key));
  }
};

template <class F>
void list_hub(Listing<F> out, const State& state) {
  out.add_all(table_of(KindOf<F>(), state));
}
template <class F>
  requires std::is_same_v<F, ClusterMetricsFacts> || std::is_same_v<F, ManagedClusterFacts>
void list_hub(Listing<F> out, const State& state) {
  for (const auto& [name, cluster] : state.clusters) out.add_if_held(state, {kKindOf<F>, "", name});
}
void list_hub(Listing<ResourceFlavorFacts> out, const State& state) {
  for (const auto& [name, flavor] : state.flavors.by_name)
    out.add_if_held(state, {Kind::resource_flavor, "", name});
}
void list_hub(Listing<ClusterProfileFacts> out, const State& state) {
  for (const auto& [name, cluster] : state.clusters)
    for (const auto& [namespace_, profile] : cluster.presence.profiles)
      out.keys.push_back({Kind::cluster_profile, namespace_, profile});
}
void list_hub(Listing<ManifestWorkFacts> out, const State& state) {
  for (const auto& [name, cluster] : state.clusters) {
    for (const auto& [work, record] : cluster.member.quota_works)
      out.keys.push_back({Kind::manifest_work, name, work});
    out.add_if_held(state, {Kind::manifest_work, name, std::string(kQueueWork)});
  }
}
void list_hub(Listing<BindingPolicyFacts> out, const State& state) {
  for (const auto& [name, cluster] : state.clusters)
    out.add_if_held(state, {Kind::binding_policy, "", policy_name(name)});
}

template <class F>
void list_member(Listing<F> out, const State& state, const SourceName& source) {
  if (const Cluster* const of = find_cluster(state.clusters, source))
    out.add_all(table_of(KindOf<F>(), *of));
}
void list_member(Listing<NamespaceFacts> out, const State& state, const SourceName& source) {
  const auto& all = state.pool.super_namespaces;
  for (auto at = all.lower_bound({source, ""}); at != all.end() && at->first.first == source; ++at)
    out.keys.push_back({Kind::namespace_, "", at->first.second});
}
void list_member(Listing<ConfigMapFacts> out, const State& state, const SourceName& source) {
  if (state.pool.infos.contains(source))
    out.keys.push_back({Kind::config_map, std::string(kSuperClusterInfoNamespace),
                        std::string(kSuperClusterInfo)});
}

template <class F>
void list_namespace(Listing<F> out, const std::string& name, const PoolNamespace& of) {
  out.add_all(table_of(KindOf<F>(), of), name);
}
void list_namespace(Listing<NamespaceFacts> out, const std::string& name, const PoolNamespace& of) {
  if (of.seen) out.keys.push_back({Kind::namespace_, "", name});
}
template <class F>
void list_tenant(Listing<F> out, const State& state, const SourceName& source) {
  const auto tenant = state.pool.tenants.find(std::string(tenant_of(source)));
  if (tenant == state.pool.tenants.end()) return;
  for (const auto& [name, of] : tenant->second.namespaces) list_namespace(out, name, of);
}

struct HeldOf {
  Held operator()(const MemberPod& pod) const { return {pod.uid, "", 0}; }
  Held operator()(const SeenWorkload& workload) const {
    const SeenWorkload::Head head = workload.head();
    return {head.uid, head.resource_version, head.generation};
  }
  template <class Record>
  Held operator()(const Record& record) const {
    if constexpr (requires { record.resource_version; })
      return {record.uid, record.resource_version, record.generation};
    else
      return {};
  }
};

struct FactsOf {
  using Optional = std::optional<Facts>;

  Optional operator()(const HeldMetrics&) const { return std::nullopt; }
  Optional operator()(const MemberQueue&) const { return std::nullopt; }
  Optional operator()(const HeldMemberLocalQueue&) const { return std::nullopt; }
  Optional operator()(const MemberPod&) const { return std::nullopt; }
  Optional operator()(const SeenWorkload& workload) const { return workload->facts; }
  Optional operator()(const SliceRecord& slice) const { return *slice.facts; }
  template <class Record>
  Optional operator()(const Record& record) const {
    if constexpr (IsFacts<Record>)
      return record;
    else
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

std::size_t held_workloads(const State& state, const SourceName& source) {
  if (source == kHub) return state.multikueue.workloads.size();
  const Cluster* const of = find_cluster(state.clusters, source);
  return of ? of->member.workloads.size() : 0;
}

std::vector<ObjectKey> held_objects(const State& state, const SourceName& source, Kind kind) {
  std::vector<ObjectKey> keys;
  with_kind<void>(kind, [&]<class F>(KindOf<F>) {
    const Listing<F> out{keys};
    constexpr KindInfo row = info(kKindOf<F>);
    if (is_tenant(source)) {
      if constexpr (row.has(kIsOfTenant)) list_tenant(out, state, source);
    } else if (source == kHub) {
      if constexpr (row.has(kIsOfHub)) list_hub(out, state);
    } else {
      if constexpr (row.has(kIsOfMember)) list_member(out, state, source);
    }
  });
  return keys;
}

}  // namespace fairlead
