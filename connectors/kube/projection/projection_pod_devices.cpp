// What a Pod asks of devices: by claims, and by resources that a DeviceClass may give.
#include <algorithm>
#include <string>
#include <utility>

#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

namespace {

using ExtendedAmounts = std::map<std::string, Amount>;

// All names with a `/`, those of kubernetes.io too: deviceclass.resource.kubernetes.io/NAME is
// given by the DeviceClass of that name.
ExtendedAmounts extended_amounts(JsonView object) {
  ExtendedAmounts out;
  for (const auto& [resource, amount] : amounts(object))
    if (resource.find('/') != std::string_view::npos && amount >= 0) out.emplace(resource, amount);
  return out;
}

// API servers fill in a missing request from the limit.
ExtendedAmounts extended_requests(JsonView container) {
  const auto [requests, limits] = container["resources"].members("requests", "limits");
  ExtendedAmounts out = extended_amounts(requests);
  out.merge(extended_amounts(limits));
  return out;
}

ExtendedAmounts extended_of_pod(JsonView spec) {
  ExtendedAmounts sum;
  for (JsonView container : spec["containers"])
    for (const auto& [resource, amount] : extended_requests(container)) {
      Amount& of = sum[resource];
      of = saturate(Int128{of} + amount);
    }
  for (JsonView container : spec["initContainers"])
    for (const auto& [resource, amount] : extended_requests(container)) {
      Amount& of = sum[resource];
      of = std::max(of, amount);
    }
  std::erase_if(sum, [](const auto& entry) { return entry.second == 0; });
  return sum;
}

std::vector<PodClaim> pod_claims(JsonView array) {
  std::vector<PodClaim> out;
  if (!array.is(JsonKind::array)) return out;
  for (JsonView item : array) {
    const auto [name, claim, template_] =
        item.members("name", "resourceClaimName", "resourceClaimTemplateName");
    out.push_back(
        {std::string(name.string()), std::string(claim.string()), std::string(template_.string())});
  }
  return out;
}

}  // namespace

PodDeviceFacts pod_devices(JsonView spec) {
  const auto [claims, selector, affinity, tolerated] =
      spec.members("resourceClaims", "nodeSelector", "affinity", "tolerations");
  PodDeviceFacts out;
  out.claims = pod_claims(claims);
  out.extended = extended_of_pod(spec);
  out.node_selector = strings(selector);
  JsonView required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  if (required.given()) out.affinity = node_selector(required);
  out.tolerations = tolerations(tolerated);
  make_set(out.tolerations);
  return out;
}

bool may_use_devices(const PodDeviceFacts& pod) {
  return !pod.claims.empty() || !pod.extended.empty();
}

}  // namespace fairlead::projection
