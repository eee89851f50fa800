#include "engine/fold/pool/tenants.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/digest.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/pod_reservations.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/reasons.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/wishes.h"

namespace fairlead {

namespace {

// The Secret, and the key in it, that VirtualCluster keeps a tenant's kubeconfig in.
constexpr const char* kAdminKubeconfig = "admin-kubeconfig";

// The syncer's cluster key: how its namespaces in super clusters name the tenant.
std::string cluster_key(const NamespacedName& id, const Observed<VirtualClusterFacts>& of) {
  // Source: ToClusterKey, VirtualCluster's pkg/syncer/conversion (cluster-api-provider-nested).
  if (!of.facts.cluster_namespace.empty()) return of.facts.cluster_namespace;
  return id.first + "-" + sha256(of.uid).hex().substr(0, 6) + "-" + id.second;
}

// Marks the tenant and returns it. Creates a new one: whether it is a tenant is found out at the
// close.
PoolTenant& mark_tenant_dirty(Pool& pool, const std::string& name) {
  pool.dirty_tenants.insert(name);
  return pool.tenants[name];
}

PoolNamespace& mark_namespace_dirty(Pool& pool, const PoolNamespaceKey& key) {
  pool.dirty_namespaces.insert(key);
  PoolTenant& tenant = pool.tenants[key.first];
  if (!tenant.admitted || !tenant.first_seen) pool.dirty_tenants.insert(key.first);
  return tenant.namespaces[key.second];
}

bool is_crowded(const Configuration& configuration, const PoolTenant& tenant) {
  return tenant.objects > configuration.pool.tenant_objects_max;
}

// Keeps the number of the tenant's objects: `was` and `is` say whether one was there and is there
// now.
void count_object(PoolRoom state, const std::string& name, bool was, bool is) {
  PoolTenant& tenant = state.pool.tenants.at(name);
  tenant.objects += (is ? 1 : 0) - (was ? 1 : 0);
  if (is_crowded(state.configuration, tenant) != tenant.crowded)
    state.pool.dirty_tenants.insert(name);
}

void forget_if_empty(Pool& pool, const PoolNamespaceKey& key) {
  auto& namespaces = pool.tenants.at(key.first).namespaces;
  // It is there: the caller has marked the namespace, which creates it.
  const auto at = namespaces.find(key.second);
  const PoolNamespace& of = at->second;
  if (!of.seen && of.quotas.empty() && of.pods.empty() && of.shares.empty() && of.claims.empty() &&
      of.templates.empty())
    namespaces.erase(at);
}

void forget_pod(PoolRoom state, const PoolNamespaceKey& key, PoolNamespace& of,
                std::map<std::string, PoolPod>::iterator at) {
  const PoolPodKey pod{key.first, key.second, at->first};
  // While the pod is still there: all of these look it up by its key or count by its facts.
  release_devices(state, pod, at->second);
  state.pool.device_pods.erase(pod);
  uncount_pod(state, key, at->second);
  if (at->second.waits_since) of.waiting.erase({*at->second.waits_since, at->first});
  if (of.waiting.empty()) state.pool.waiting.erase(key);
  of.pods.erase(at);
}

// Everything that was decided for it is over, and what its syncer left in super clusters counts as
// strangers' from now on. Its shares stay as records, because the sums still count some of them,
// such as shares with pods that are not over. recount_said() takes out what no longer counts.
void end_namespace(PoolRoom state, const PoolNamespaceKey& key) {
  PoolNamespace& of = *find_namespace(state.pool, key);
  for (const auto& [id, slices] : placements_of(of)) set_share(state, key, id, std::nullopt);
  for (auto& [name, pod] : of.pods) clear_reason(pod.reason);
  PoolNamespace left;
  left.quotas = std::move(of.quotas);
  left.pods = std::move(of.pods);
  left.claims = std::move(of.claims);
  left.templates = std::move(of.templates);
  left.shares = std::move(of.shares);
  left.waiting = std::move(of.waiting);
  of = std::move(left);
  forget_wish(state.pool, key);
  state.pool.unwritten.erase(key);
  recount_said(state, key);
}

void read_annotations(const Configuration& configuration, PoolNamespace& of) {
  const NamespaceFacts& facts = of.seen->facts;
  const auto slice = read_slice(facts.slice);
  of.bad_slice = !slice;
  if (slice) of.slice = slice;
  of.observed = read_placements(facts.placements, configuration.pool.slices_max);
}

}  // namespace

void observe_virtual_cluster(PoolRoom state, const NamespacedName& id,
                             const Seen<VirtualClusterFacts>& seen) {
  Pool& pool = state.pool;
  pool.tenancy_seq = state.seq;
  PoolVirtualCluster& of = pool.virtual_clusters[id];
  if (!of.tenant.empty()) {
    mark_tenant_dirty(state.pool, of.tenant).seq = state.seq;
    pool.virtual_clusters_of.at(of.tenant).erase(id);
  }
  if (!seen) {
    pool.virtual_clusters.erase(id);
    return;
  }
  if (!of.seen.uid.empty() && !seen->uid.empty() && of.seen.uid != seen->uid) of = {};
  of.seen = *seen;
  of.tenant = cluster_key(id, of.seen);
  mark_tenant_dirty(state.pool, of.tenant).seq = seen->seq;
  pool.virtual_clusters_of[of.tenant].insert(id);
  const bool running = seen->facts.phase == "Running";
  of.reached = of.reached || running;
  if (running) of.failed = false;
  if (seen->facts.phase == "Error" && of.reached) of.failed = true;
}

void observe_tenant_namespace(PoolRoom state, const SourceName& source, const std::string& name,
                              const Seen<NamespaceFacts>& seen) {
  const PoolNamespaceKey key{std::string(tenant_of(source)), name};
  PoolNamespace& of = mark_namespace_dirty(state.pool, key);
  state.pool.dirty_lists.insert(key);
  count_object(state, key.first, of.seen.has_value(), seen.has_value());
  const bool another =
      of.seen && seen && !of.seen->uid.empty() && !seen->uid.empty() && of.seen->uid != seen->uid;
  if (of.seen && (!seen || another)) end_namespace(state, key);
  const bool first = !of.seen;
  of.seen = seen;
  if (!seen) return forget_if_empty(state.pool, key);
  read_annotations(state.configuration, of);
  if (first) note_written_reason(of.reason, seen->facts.reason);
  if (first) recount_said(state, key);
}

void observe_tenant_quota(PoolRoom state, const SourceName& source, const NamespacedName& id,
                          const Seen<ResourceQuotaFacts>& seen) {
  const PoolNamespaceKey key{std::string(tenant_of(source)), id.first};
  PoolNamespace& of = mark_namespace_dirty(state.pool, key);
  state.pool.dirty_lists.insert(key);
  count_object(state, key.first, of.quotas.contains(id.second), seen.has_value());
  if (seen) {
    of.quotas[id.second] = *seen;
  } else {
    of.quotas.erase(id.second);
    forget_if_empty(state.pool, key);
  }
}

void observe_tenant_pod(PoolRoom state, const SourceName& source, const NamespacedName& id,
                        const Seen<PodFacts>& seen) {
  const PoolNamespaceKey key{std::string(tenant_of(source)), id.first};
  PoolNamespace& of = mark_namespace_dirty(state.pool, key);
  const auto at = of.pods.find(id.second);
  count_object(state, key.first, at != of.pods.end(), seen.has_value());
  const bool same =
      at != of.pods.end() && seen &&
      (at->second.seen.uid == seen->uid || seen->uid.empty() || at->second.seen.uid.empty());
  if (at != of.pods.end() && !same) forget_pod(state, key, of, at);
  if (!seen) return forget_if_empty(state.pool, key);
  state.pool.dirty_pods.insert({key.first, key.second, id.second});
  PoolPod& pod = of.pods[id.second];
  // A decision is kept until another writer changes what it was made from.
  const bool decided = same && pod.seen.facts.super_cluster == seen->facts.super_cluster;
  const std::string cluster = decided ? pod.cluster : seen->facts.super_cluster.value_or("");
  if (!same) note_written_reason(pod.reason, seen->facts.reason);
  // Most events of a pod, such as that it is bound, change nothing that counts.
  const bool counts = !same || cluster != pod.cluster || pod.seen.facts.over != seen->facts.over ||
                      pod.seen.facts.requests != seen->facts.requests;
  if (same && counts) uncount_pod(state, key, pod);
  pod.cluster = cluster;
  pod.seen = *seen;
  pod.asks->reset();
  if (pod.reserved && (seen->facts.over || pod.reserved->worker != cluster))
    release_devices(state, {key.first, key.second, id.second}, pod);
  if (counts) count_pod(state, key, pod);
}

namespace {

// Stores or erases what pods of the namespace may name. Pods that wait for devices are looked at
// again.
template <class Facts>
void observe_device_object(PoolRoom state, const SourceName& source, const NamespacedName& id,
                           std::map<std::string, DeviceRecord<Facts>> PoolNamespace::* objects,
                           const Facts* facts, Seq seq) {
  const PoolNamespaceKey key{std::string(tenant_of(source)), id.first};
  PoolNamespace& of = mark_namespace_dirty(state.pool, key);
  auto& records = of.*objects;
  count_object(state, key.first, records.contains(id.second), facts != nullptr);
  const std::set<PoolPodKey>& pods = state.pool.device_pods;
  for (auto at = pods.lower_bound({key.first, key.second, ""});
       at != pods.end() && namespace_of(*at) == key; ++at)
    state.pool.dirty_pods.insert(*at);
  if (facts) {
    records[id.second] = {*facts, seq};
  } else {
    records.erase(id.second);
    forget_if_empty(state.pool, key);
  }
}

}  // namespace

void observe_tenant_claim(PoolRoom state, const SourceName& source, const NamespacedName& id,
                          const ResourceClaimFacts* facts, Seq seq) {
  observe_device_object(state, source, id, &PoolNamespace::claims, facts, seq);
}

void observe_tenant_template(PoolRoom state, const SourceName& source, const NamespacedName& id,
                             const ResourceClaimTemplateFacts* facts, Seq seq) {
  observe_device_object(state, source, id, &PoolNamespace::templates, facts, seq);
}

void observe_tenant_liveness(Pool& pool, const SourceName& source, std::optional<Kind> kind,
                             Liveness liveness, Seq seq) {
  PoolTenant& tenant = mark_tenant_dirty(pool, std::string(tenant_of(source)));
  tenant.seq = seq;
  for (const KindInfo& row : kKinds) {
    if (!row.has(kIsOfTenant) || is_of_devices(row.kind)) continue;
    if (kind && *kind != row.kind) continue;
    if (liveness == Liveness::live)
      tenant.silent.erase(row.kind);
    else
      tenant.silent.insert(row.kind);
  }
}

namespace {

// The claims of a member's namespace may belong to another tenant's pods from now on.
void note_claims_of(
    StateView<const Configuration, Clusters, DeviceSearches, const LogPosition> state,
    const std::string& member, const std::string& space) {
  const auto cluster = state.clusters.find(member);
  if (cluster == state.clusters.end()) return;
  const auto& claims = cluster->second.devices.claims;
  auto at = claims.lower_bound({space, ""});
  if (at == claims.end() || at->first.first != space) return;
  DeviceChanges* const changes = note_change(state, member, cluster->second, state.seq);
  if (!changes) return;
  for (; at != claims.end() && at->first.first == space; ++at) changes->claims.insert(at->first);
}

}  // namespace

void observe_super_namespace(PoolRoom state, const SourceName& source, const std::string& name,
                             const Seen<NamespaceFacts>& seen) {
  Pool& pool = state.pool;
  const std::pair id{source, name};
  note_claims_of(state, source, name);
  const auto at = pool.super_namespaces.find(id);
  if (at != pool.super_namespaces.end()) {
    uncount_super_namespace(state, id);
    const NamespaceFacts& facts = at->second.seen.facts;
    const PoolNamespaceKey key{facts.tenant, facts.tenant_namespace};
    const auto made = pool.made_for.find(key);
    // The entry is there: what was made for a namespace is in `made_for` as long as it is known.
    made->second.erase(id);
    if (made->second.empty()) pool.made_for.erase(made);
    pool.super_namespaces.erase(at);
    recount_said(state, key);
  }
  if (!seen) return;
  pool.super_namespaces[id].seen = *seen;
  pool.made_for[{seen->facts.tenant, seen->facts.tenant_namespace}].insert(id);
  count_super_namespace(state, id);
}

void mark_pool_namespace_dirty(Pool& pool, const SourceName& source, const std::string& name) {
  const PoolNamespaceKey key{std::string(tenant_of(source)), name};
  if (find_namespace(pool, key)) pool.dirty_namespaces.insert(key);
}

void mark_pool_pod_dirty(Pool& pool, const SourceName& source, const NamespacedName& id) {
  const PoolPodKey key{std::string(tenant_of(source)), id.first, id.second};
  if (find_pod(pool, key)) pool.dirty_pods.insert(key);
}

void expect_placements(StateView<const Configuration, Pool> state, const PatchIntended& intent) {
  if (intent.target.kind != Kind::namespace_ || !intent.expected) return;
  const auto* facts = std::get_if<NamespaceFacts>(&*intent.expected);
  PoolNamespace* const of =
      find_namespace(state.pool, {std::string(tenant_of(intent.cluster)), intent.target.name});
  if (facts && of && of->taken_up)  // else a reason alone is ours
    of->written = read_placements(facts->placements, state.configuration.pool.slices_max);
  state.pool.unwritten.erase({std::string(tenant_of(intent.cluster)), intent.target.name});
}

void end_tenant(PoolRoom state, const std::string& name) {
  Pool& pool = state.pool;
  std::vector<std::string> names;
  for (const auto& [each, of] : pool.tenants.at(name).namespaces) names.push_back(each);
  for (const std::string& each : names) {
    const PoolNamespaceKey key{name, each};
    end_namespace(state, key);
    PoolNamespace& of = *find_namespace(pool, key);
    while (!of.pods.empty()) forget_pod(state, key, of, of.pods.begin());
    pool.tenants.at(name).namespaces.erase(each);
    recount_said(state, key);
  }
  pool.tenants.erase(name);
}

const std::pair<const NamespacedName, PoolVirtualCluster>* virtual_cluster_of(
    const Pool& pool, const std::string& tenant) {
  const auto ids = pool.virtual_clusters_of.find(tenant);
  if (ids == pool.virtual_clusters_of.end()) return nullptr;
  for (const NamespacedName& id : ids->second)
    if (const auto at = pool.virtual_clusters.find(id); at->second.reached) return &*at;
  return nullptr;
}

void recompute_tenancy(PoolRoom state, const std::string& name) {
  const PoolSettings& settings = state.configuration.pool;
  PoolTenant& tenant = state.pool.tenants.at(name);
  const auto* const of = virtual_cluster_of(state.pool, name);
  const bool configured =
      std::any_of(settings.tenants.begin(), settings.tenants.end(),
                  [&](const PoolTenantAccess& each) { return each.name == name; });
  tenant.admitted = !settings.clusters.empty() && (of || configured);
  tenant.failed = of && of->second.failed;
  tenant.crowded = is_crowded(state.configuration, tenant);
  std::map<std::string, Amount> limit{settings.tenant_limit.begin(), settings.tenant_limit.end()};
  if (of && of->second.seen.facts.pool_limit)
    if (auto own = read_limit(*of->second.seen.facts.pool_limit)) limit = std::move(*own);
  if (limit == tenant.limit) return;
  tenant.limit = std::move(limit);
  state.pool.room_grew = true;
  for (const auto& [each, ns] : tenant.namespaces) state.pool.dirty_namespaces.insert({name, each});
}

std::vector<TenantAccess> tenants_to_watch(PoolReader state) {
  std::map<std::string, TenantAccess> all;
  const PoolSettings& settings = state.configuration.pool;
  if (settings.clusters.empty()) return {};
  for (const auto& [tenant, ids] : state.pool.virtual_clusters_of) {
    const auto* const of = virtual_cluster_of(state.pool, tenant);
    if (!of) continue;
    const std::string& named = of->second.seen.facts.secret;
    all[tenant] = {tenant, tenant + "/" + (named.empty() ? kAdminKubeconfig : named),
                   named.empty() ? kAdminKubeconfig : "value", ""};
  }
  for (const PoolTenantAccess& entry : settings.tenants)
    all[entry.name] = {entry.name, entry.secret_ref, "kubeconfig", entry.file};
  std::vector<TenantAccess> wanted;
  for (auto& [tenant, access] : all) {
    const auto* const of = virtual_cluster_of(state.pool, tenant);
    if (!of || !of->second.failed) wanted.push_back(std::move(access));
  }
  return wanted;
}

}  // namespace fairlead
