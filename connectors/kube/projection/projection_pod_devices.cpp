// What a Pod asks of devices: by claims, and by resources that a DeviceClass may give.
#include <string>
#include <utility>

#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

namespace {

// All names with a `/`, also below kubernetes.io: deviceclass.resource.kubernetes.io/NAME is given
// by the DeviceClass of that name.
PodAmounts extended_of_pod(JsonView spec) {
  PodAmounts amounts = container_requests(spec);
  std::erase_if(amounts, [](const auto& entry) {
    return entry.second == 0 || entry.first.find('/') == std::string::npos;
  });
  return amounts;
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
