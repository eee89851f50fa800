#include "tests/unit/schema/samples/sample_fleet.h"

namespace fairlead::samples {

FleetResourceClassFacts fleet_resource_class() {
  return {"licences.example.com", {"example.com", "LicenceServer", "main"}, {{"cluster1"}}};
}

FleetResourceClaimFacts fleet_resource_claim() {
  FleetResourceClaimFacts claim;
  claim.spec = {"gpus", {"resource.k8s.io", "ResourceClaimTemplate", "eight"}, true};
  claim.driver = "fairlead.io/devices";
  claim.allocation = FleetAllocation{
      {{"cluster1"}}, true, {{"gpu.example.com/rack/1/gpu-0", "gpu.example.com/rack/1/gpu-1"}}};
  claim.reserved_for = {{"kueue.x-k8s.io", "workloads", "train", "7c"}, {"", "pods", "p", "8d"}};
  claim.deallocation_requested = true;
  claim.workload_owners = {"7c", "9e"};
  claim.created = LogTime{1'767'225'600'000'000'000};
  claim.deleting = true;
  return claim;
}

FleetResourceClaimTemplateFacts fleet_resource_claim_template() {
  return {{{"team", "a"}}, {{"note", "b"}}, {"qpu", {}, false}};
}

FleetSchedulingFacts fleet_scheduling() {
  return {{"cluster2", "cluster1"}, "cluster2", {{"licence", {"cluster1"}}, {"qpu", {}}}, {"7c"}};
}

WorkloadFacts workload_with_fleet_claims() {
  WorkloadFacts facts;
  facts.pod_sets = {
      {"main", 2, std::nullopt, {}, {{{"licence", "site", ""}, {"qpu", "", "qpu"}}, ""}},
      {"bad", 1, 1, {}, {{}, "no JSON list"}}};
  return facts;
}

}  // namespace fairlead::samples
