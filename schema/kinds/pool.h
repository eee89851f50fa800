// Projected facts of the super cluster pool: tenants, what is in them, and the names of super
// clusters. As facts.h says.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/boxed.h"
#include "engine/base/quantity.h"
#include "schema/kinds/devices.h"
#include "schema/packed_map.h"

namespace fairlead {

/// tenancy.x-k8s.io VirtualCluster: a tenant with an API server of its own. Annotations are as
/// written, and empty texts where they are longer than kAnnotationMax: no valid value is empty.
struct VirtualClusterFacts {
  std::string phase;              ///< status.phase
  std::string cluster_namespace;  ///< status.clusterNamespace
  std::string secret;  ///< annotation tenancy.x-k8s.io/secret.admin-kubeconfig: a Secret's name
  std::optional<std::string> pool_limit;  ///< annotation fairlead.io/pool-limit

  friend bool operator==(const VirtualClusterFacts&, const VirtualClusterFacts&) = default;
};
template <class V, Of<VirtualClusterFacts> T>
void fields(V& visit, T& cluster) {
  visit.field("phase", cluster.phase);
  visit.field("clusterNamespace", cluster.cluster_namespace);
  visit.field("secret", cluster.secret, kSparse);
  visit.field("poolLimit", cluster.pool_limit);
}

/// core/v1 Namespace, of a tenant or of a super cluster. Annotations as in VirtualClusterFacts.
struct NamespaceFacts {
  std::optional<std::string> slice;       ///< scheduler.virtualcluster.io/slice
  std::optional<std::string> placements;  ///< scheduler.virtualcluster.io/placements
  std::optional<std::string> policy;      ///< fairlead.io/pool-policy; of tenants only
  std::optional<std::string> reason;      ///< fairlead.io/pool-reason; of tenants only
  /// Where the namespace of a super cluster comes from: annotations tenancy.x-k8s.io/cluster,
  /// /namespace and /uid; empty where absent, and for a tenant's namespace.
  std::string tenant;
  std::string tenant_namespace;
  std::string tenant_uid;
  bool deleting = false;

  friend bool operator==(const NamespaceFacts&, const NamespaceFacts&) = default;
};
template <class V, Of<NamespaceFacts> T>
void fields(V& visit, T& of) {
  visit.field("slice", of.slice);
  visit.field("placements", of.placements);
  visit.field("policy", of.policy);
  visit.field("reason", of.reason);
  visit.field("tenant", of.tenant, kSparse);
  visit.field("tenantNamespace", of.tenant_namespace, kSparse);
  visit.field("tenantUid", of.tenant_uid, kSparse);
  visit.field("deleting", of.deleting);
}

/// core/v1 ResourceQuota of a tenant.
struct ResourceQuotaFacts {
  /// spec.hard of cpu, requests.cpu, memory and requests.memory; the first two in milli.
  std::map<std::string, Amount> hard;
  bool scoped = false;  ///< spec.scopes or spec.scopeSelector is set: it does not count

  friend bool operator==(const ResourceQuotaFacts&, const ResourceQuotaFacts&) = default;
};
template <class V, Of<ResourceQuotaFacts> T>
void fields(V& visit, T& quota) {
  visit.field("hard", quota.hard);
  visit.field("scoped", quota.scoped);
}

/// The label that Kueue puts on the Pods of a Workload: the name of their pod set.
inline constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";

/// Whom a Pod of a member was made for.
struct PodOrigin {
  std::string workload;    ///< annotation kueue.x-k8s.io/workload
  std::string pod_set;     ///< label kPodSetLabel
  std::string tenant_uid;  ///< annotation tenancy.x-k8s.io/uid: of a tenant's Pod

  friend bool operator==(const PodOrigin&, const PodOrigin&) = default;
};

/// core/v1 Pod of a tenant. On a member only the metadata is read and only the origin is kept: of
/// Pods with the label kPodSetLabel, and of all Pods of a super cluster.
struct PodFacts {
  std::optional<std::string> super_cluster;  ///< scheduler.virtualcluster.io/superCluster
  std::optional<std::string> reason;         ///< fairlead.io/pool-reason
  /// What kube-scheduler counts: containers and sidecars, or the peak of an init container, or
  /// pod-level requests, and the overhead. Without zeros.
  PackedMap<Amount> requests;
  bool bound = false;            ///< spec.nodeName is set
  bool gated = false;            ///< spec.schedulingGates is not empty
  bool resource_claims = false;  ///< spec.resourceClaims is not empty
  bool over = false;             ///< status.phase is Succeeded or Failed
  bool deleting = false;
  /// What it asks of devices; absent where it has neither claims nor extended resources.
  Boxed<PodDeviceFacts> devices;
  Boxed<PodOrigin> made_for;  ///< absent if it would equal PodOrigin{}

  const PodOrigin& origin() const {
    static const PodOrigin none;
    return made_for ? *made_for : none;
  }
  void set_origin(PodOrigin origin) {
    made_for.reset();
    if (origin != PodOrigin{}) made_for = std::move(origin);
  }

  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};
template <class V, Of<PodFacts> T>
void fields(V& visit, T& pod) {
  visit.field("superCluster", pod.super_cluster);
  visit.field("reason", pod.reason);
  visit.field("requests", pod.requests);
  visit.field("bound", pod.bound);
  visit.field("gated", pod.gated);
  visit.field("resourceClaims", pod.resource_claims);
  visit.field("over", pod.over);
  visit.field("deleting", pod.deleting);
  visit.field("devices", pod.devices);
  PodOrigin origin = pod.origin();
  visit.field("workload", origin.workload, kSparse);
  visit.field("podSet", origin.pod_set, kSparse);
  visit.field("tenantUid", origin.tenant_uid, kSparse);
  if constexpr (!std::is_const_v<T>) pod.set_origin(std::move(origin));
}

/// core/v1 ConfigMap kube-system/supercluster-info of a super cluster; no other is read.
struct ConfigMapFacts {
  std::optional<std::string> id;  ///< data.id as written

  friend bool operator==(const ConfigMapFacts&, const ConfigMapFacts&) = default;
};
template <class V, Of<ConfigMapFacts> T>
void fields(V& visit, T& map) {
  visit.field("id", map.id);
}

/// A longer annotation of a tenant is kept as an empty text.
inline constexpr std::size_t kAnnotationMax = 65536;

}  // namespace fairlead
