// Folds what the hub and the tenants report: VirtualClusters, Namespaces, ResourceQuotas, Pods, and
// the claims by which pods ask for devices. Internal to the fold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/fold/capacity/liveness.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// The observe functions fold one object; `seen` is empty if it is gone. `source` is the tenant's.
void observe_virtual_cluster(PoolRoom state, const NamespacedName& id,
                             const Seen<VirtualClusterFacts>& seen);
void observe_tenant_namespace(PoolRoom state, const SourceName& source, const std::string& name,
                              const Seen<NamespaceFacts>& seen);
void observe_tenant_quota(PoolRoom state, const SourceName& source, const NamespacedName& id,
                          const Seen<ResourceQuotaFacts>& seen);
void observe_tenant_pod(PoolRoom state, const SourceName& source, const NamespacedName& id,
                        const Seen<PodFacts>& seen);
void observe_tenant_claim(PoolRoom state, const SourceName& source, const NamespacedName& id,
                          const ResourceClaimFacts* facts, Seq seq);
void observe_tenant_template(PoolRoom state, const SourceName& source, const NamespacedName& id,
                             const ResourceClaimTemplateFacts* facts, Seq seq);
/// Folds that a kind of the tenant's API server (every kind that is read there, if it is empty) is
/// live, stale or lost. Kinds of resource.k8s.io do not matter: an API server need not serve them.
void observe_tenant_liveness(Pool& pool, const SourceName& source, std::optional<Kind> kind,
                             Liveness liveness, Seq seq);
/// Folds a namespace that was made for a tenant's; `source` is a member.
void observe_super_namespace(PoolRoom state, const SourceName& source, const std::string& name,
                             const Seen<NamespaceFacts>& seen);

/// Derives whether `name`, which State has, is a tenant, and its limit.
void recompute_tenancy(PoolRoom state, const std::string& name);
/// Forgets a tenant and all that is in it.
void end_tenant(PoolRoom state, const std::string& name);

/// Mark an object of the tenant, which is planned again when the open moment closes.
void mark_pool_namespace_dirty(Pool& pool, const SourceName& source, const std::string& name);
void mark_pool_pod_dirty(Pool& pool, const SourceName& source, const NamespacedName& id);
/// Folds our own write of a Namespace: its placements do not count as an edit when they are
/// observed.
void expect_placements(StateView<const Configuration, Pool> state, const PatchIntended& intent);

/// Returns the VirtualCluster of a tenant: the first by name that was Running once; null if none
/// was.
const std::pair<const NamespacedName, PoolVirtualCluster>* virtual_cluster_of(
    const Pool& pool, const std::string& tenant);

/// How the API server of a tenant is reached. One of the sources is set.
struct TenantAccess {
  std::string tenant;
  std::string secret_ref;  ///< namespace/name of a Secret on the hub
  std::string secret_key;  ///< of the kubeconfig in it
  std::string file;        ///< path of a kubeconfig

  friend bool operator==(const TenantAccess&, const TenantAccess&) = default;
};
/// Returns the tenants whose API servers are to be watched, by name: tenants of VirtualClusters
/// that have not failed, and tenants in the configuration, which decides how these are reached.
std::vector<TenantAccess> tenants_to_watch(PoolReader state);

}  // namespace fairlead
