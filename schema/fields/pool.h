// The fields of the super cluster pool's kinds.
#pragma once

#include <utility>

#include "schema/fields/devices.h"

namespace fairlead {

template <class V, Of<VirtualClusterFacts> T>
void fields(V& visit, T& cluster) {
  visit.field("phase", cluster.phase);
  visit.field("clusterNamespace", cluster.cluster_namespace);
  visit.field("secret", cluster.secret, kSparse);
  visit.field("poolLimit", cluster.pool_limit);
}

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

template <class V, Of<ResourceQuotaFacts> T>
void fields(V& visit, T& quota) {
  visit.field("hard", quota.hard);
  visit.field("scoped", quota.scoped);
}

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

template <class V, Of<ConfigMapFacts> T>
void fields(V& visit, T& map) {
  visit.field("id", map.id);
}

}  // namespace fairlead
