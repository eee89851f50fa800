// The kinds of the super cluster pool: tenants, their namespaces, quotas and pods, and the names of
// super clusters.
#include <algorithm>

#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

namespace {

// What is kept of an annotation that another writer may have made as long as it likes.
std::optional<std::string> annotation(JsonView value) {
  if (!value.is(JsonKind::string)) return std::nullopt;
  const std::string_view text = value.string();
  return std::string(text.size() <= kAnnotationMax ? text : "");
}

using Requests = std::map<std::string, Amount>;

void add(Requests& sum, const Requests& more) {
  for (const auto& [resource, amount] : more) {
    Amount& of = sum[resource];
    of = saturate(Int128{of} + amount);
  }
}
void raise_to(Requests& peak, const Requests& other) {
  for (const auto& [resource, amount] : other) peak[resource] = std::max(peak[resource], amount);
}

// An API server refuses negative amounts, but a tenant owns its API server: one would make room for
// other pods.
Requests amounts_of(JsonView object) {
  Requests out;
  for (const auto& [resource, amount] : amounts(object))
    out.emplace(resource, std::max(amount, Amount{0}));
  return out;
}

// A missing request is the limit.
Requests requests_of(JsonView resources) {
  Requests requests = amounts_of(resources["requests"]);
  for (const auto& [resource, amount] : amounts_of(resources["limits"]))
    requests.emplace(resource, amount);
  return requests;
}

bool is_pod_level(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

// An init container runs beside the sidecars that were started before it, the containers beside all
// of them.
Requests container_requests(JsonView spec) {
  Requests sidecars, peak;
  for (JsonView container : spec["initContainers"]) {
    const Requests own = requests_of(container["resources"]);
    if (container["restartPolicy"].string() == "Always") {
      add(sidecars, own);
      raise_to(peak, sidecars);
    } else {
      Requests beside = sidecars;
      add(beside, own);
      raise_to(peak, beside);
    }
  }
  Requests sum = std::move(sidecars);
  for (JsonView container : spec["containers"]) add(sum, requests_of(container["resources"]));
  raise_to(sum, peak);
  return sum;
}

// As kube-scheduler counts (k8s.io/component-helpers resource.PodRequests). A limit of the Pod is
// its request where no container requests the resource: the default that API servers fill in.
Requests pod_requests(JsonView spec) {
  Requests sum = container_requests(spec);
  JsonView pod = spec["resources"];
  for (const auto& [resource, amount] : amounts_of(pod["limits"]))
    if (is_pod_level(resource)) sum.emplace(resource, amount);
  for (const auto& [resource, amount] : amounts_of(pod["requests"]))
    if (is_pod_level(resource)) sum[resource] = amount;
  add(sum, amounts_of(spec["overhead"]));
  std::erase_if(sum, [](const auto& entry) { return entry.second == 0; });
  return sum;
}

}  // namespace

VirtualClusterFacts virtual_cluster(JsonView object) {
  JsonView annotations = object["metadata"]["annotations"];
  JsonView status = object["status"];
  return {std::string(status["phase"].string()), std::string(status["clusterNamespace"].string()),
          annotation(annotations["tenancy.x-k8s.io/secret.admin-kubeconfig"]).value_or(""),
          annotation(annotations["fairlead.io/pool-limit"])};
}

NamespaceFacts namespace_of(JsonView object) {
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

ResourceQuotaFacts resource_quota(JsonView object) {
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

PodFacts pod(JsonView object) {
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

ConfigMapFacts config_map(JsonView object) { return {annotation(object["data"]["id"])}; }

}  // namespace fairlead::projection
