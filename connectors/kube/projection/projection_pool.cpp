// The kinds of the super cluster pool: tenants, their namespaces, quotas and pods, and the names of
// super clusters.
#include <algorithm>
#include <array>

#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

namespace {

// What is kept of an annotation that another writer may have made as long as it likes.
std::optional<std::string> annotation(JsonView value) {
  if (!value.is(JsonKind::string)) return std::nullopt;
  const std::string_view text = value.string();
  return std::string(text.size() <= kAnnotationMax ? text : "");
}

}  // namespace

template <>
VirtualClusterFacts facts_of(JsonView object, ApiReading&) {
  JsonView annotations = object["metadata"]["annotations"];
  JsonView status = object["status"];
  return {std::string(status["phase"].string()), std::string(status["clusterNamespace"].string()),
          annotation(annotations["tenancy.x-k8s.io/secret.admin-kubeconfig"]).value_or(""),
          annotation(annotations["fairlead.io/pool-limit"])};
}

template <>
NamespaceFacts facts_of(JsonView object, ApiReading&) {
  JsonView annotations = object["metadata"]["annotations"];
  NamespaceFacts out;
  out.slice = annotation(annotations["scheduler.virtualcluster.io/slice"]);
  out.placements = annotation(annotations["scheduler.virtualcluster.io/placements"]);
  out.tenant = annotation(annotations["tenancy.x-k8s.io/cluster"]).value_or("");
  out.tenant_namespace = annotation(annotations["tenancy.x-k8s.io/namespace"]).value_or("");
  out.tenant_uid = annotation(annotations["tenancy.x-k8s.io/uid"]).value_or("");
  out.policy = annotation(annotations["fairlead.io/pool-policy"]);
  out.reason = annotation(annotations["fairlead.io/pool-reason"]);
  out.deleting = deleting(object);
  return out;
}

template <>
ResourceQuotaFacts facts_of(JsonView object, ApiReading&) {
  JsonView spec = object["spec"];
  ResourceQuotaFacts out;
  for (const char* name : {"cpu", "memory", "requests.cpu", "requests.memory"}) {
    const auto amount = quantity(spec["hard"][std::string_view(name)]);
    const std::string_view text(name);
    if (amount) out.hard[name] = to_amount(text.ends_with("cpu") ? "cpu" : "memory", *amount);
  }
  out.scoped = spec["scopes"].size() > 0 || spec["scopeSelector"].given();
  return out;
}

template <>
PodFacts facts_of(JsonView object, ApiReading&) {
  const auto [metadata, spec, status] = object.members("metadata", "spec", "status");
  JsonView annotations = metadata["annotations"];
  PodFacts out;
  out.super_cluster = annotation(annotations["scheduler.virtualcluster.io/superCluster"]);
  out.reason = annotation(annotations["fairlead.io/pool-reason"]);
  out.requests = pod_requests(spec);
  out.bound = !spec["nodeName"].string().empty();
  out.gated = spec["schedulingGates"].size() > 0;
  out.resource_claims = spec["resourceClaims"].size() > 0;
  const std::string_view phase = status["phase"].string();
  out.over = phase == "Succeeded" || phase == "Failed";
  out.deleting = deleting(object);
  out.set_origin({annotation(annotations["kueue.x-k8s.io/workload"]).value_or(""),
                  annotation(metadata["labels"][kPodSetLabel]).value_or(""),
                  annotation(annotations["tenancy.x-k8s.io/uid"]).value_or("")});
  if (PodDeviceFacts devices = pod_devices(spec); may_use_devices(devices))
    out.devices = std::move(devices);
  return out;
}

template <>
ConfigMapFacts facts_of(JsonView object, ApiReading&) {
  return {annotation(object["data"]["id"])};
}

std::span<const KindProjection> pool_projections() {
  static constexpr std::array kAll{
      projection_of<VirtualClusterFacts>("spec"), projection_of<NamespaceFacts>("status"),
      projection_of<ResourceQuotaFacts>("status"),
      // Of members' Pods only the metadata is sent.
      projection_of<PodFacts>(
          "metadata.ownerReferences spec.volumes status.{conditions,containerStatuses} "
          "status.{initContainerStatuses,ephemeralContainerStatuses,resourceClaimStatuses}"),
      projection_of<ConfigMapFacts>()};
  return kAll;
}

}  // namespace fairlead::projection
