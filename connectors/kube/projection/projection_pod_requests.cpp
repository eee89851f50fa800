// How much a Pod requests of each resource, as kube-scheduler counts it: the most that it needs at
// one time.
#include <algorithm>

#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

namespace {

using Requests = PodAmounts;

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
    if (amount >= 0) out.emplace(resource, amount);
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

}  // namespace

// An init container runs beside the sidecars that were started before it, the containers beside all
// of them. `peak` is never below `sidecars`, so each container costs what it requests itself: a
// tenant's Pod may have 100,000 of them beside as many resources.
PodAmounts container_requests(JsonView spec) {
  Requests sidecars, peak;
  for (JsonView container : spec["initContainers"]) {
    Requests own = requests_of(container["resources"]);
    for (auto& [resource, amount] : own)
      if (const auto beside = sidecars.find(resource); beside != sidecars.end())
        amount = saturate(Int128{beside->second} + amount);
    raise_to(peak, own);
    if (container["restartPolicy"].string() != "Always") continue;
    for (const auto& [resource, amount] : own) sidecars.insert_or_assign(resource, amount);
  }
  Requests sum = std::move(sidecars);
  for (JsonView container : spec["containers"]) add(sum, requests_of(container["resources"]));
  raise_to(sum, peak);
  return sum;
}

// As kube-scheduler counts (k8s.io/component-helpers resource.PodRequests). A limit of the Pod is
// its request where no container requests the resource: the default that API servers fill in.
PodAmounts pod_requests(JsonView spec) {
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

}  // namespace fairlead::projection
