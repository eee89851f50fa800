#include "tests/unit/schema/samples/sample_devices.h"

namespace fairlead::samples {
namespace {

Quantity amount(std::string_view text) { return *Quantity::parse(text); }

NodeSelector gpu_nodes() {
  return {{{{{"pool", "In", {"a100", "h100"}}, {"spot", "DoesNotExist", {}}}, {}},
           {{}, {{"metadata.name", "In", {"gpu-1"}}}}}};
}

DeviceFacts whole_device() {
  DeviceFacts device;
  device.name = "gpu-0";
  device.attributes = {{"model", "sH100"},
                       {"driver.example.com/version", "v1.2.3"},
                       {"healthy", "btrue"},
                       {"numa", "i-1"}};
  device.capacity = {{"memory", amount("80Gi"), {}}};
  return device;
}

DeviceFacts shared_device() {
  DeviceFacts device;
  device.name = "nic-0";
  DeviceCapacity bandwidth{"bandwidth", amount("10G"), {}};
  bandwidth.policy = CapacityPolicy{amount("1G"), {}, amount("100M"), amount("5G"), amount("100M")};
  DeviceCapacity queues{"queues", amount("8"), {}};
  queues.policy = CapacityPolicy{amount("2"), {amount("2"), amount("4")}, {}, {}, {}};
  device.capacity = {bandwidth, queues};
  device.extras = DeviceExtras{{NodeReachKind::selector, "", gpu_nodes()},
                               {{"broken", "ecc", "NoExecute"}},
                               {{"slices", {{"compute", amount("2")}, {"memory", amount("20Gi")}}}},
                               true,
                               true};
  return device;
}

DeviceAsk any_gpu() {
  return {"",
          "gpu.example.com",
          {{"device.attributes[\"gpu.example.com\"].model == \"H100\""}, {std::nullopt}},
          AllocationMode::exact,
          2,
          true,
          {{"broken", "Exists", "", "NoSchedule"}},
          {{"memory", amount("40Gi")}}};
}

DeviceClaimSpec claim_spec() {
  DeviceAsk rest;
  rest.name = "rest";
  rest.device_class = "nic.example.com";
  rest.mode = AllocationMode::all;
  DeviceAsk later;
  later.name = "later";
  later.mode = AllocationMode::unknown;
  return {
      {{"gpu", false, {any_gpu()}}, {"nic", true, {rest, later}}, {"not-understood", false, {}}},
      {{{"gpu", "nic/rest"}, "example.com/numa", ""}, {{}, "", "example.com/rack"}, {{}, "", ""}}};
}

PodDeviceFacts pod_devices() {
  return {{{"gpus", "", "two-gpus"}, {"nic", "the-nic", ""}},
          {{"example.com/gpu", 2}, {"deviceclass.resource.kubernetes.io/nic", 1}},
          {{"pool", "h100"}},
          gpu_nodes(),
          {{"dedicated", "Exists", "", "NoSchedule"}}};
}

}  // namespace

ResourceSliceFacts resource_slice() {
  DeviceFacts everywhere;
  everywhere.name = "licence";
  everywhere.extras.emplace().reach.kind = NodeReachKind::all;
  DeviceFacts local;
  local.name = "local";
  local.extras.emplace().reach = {NodeReachKind::node, "gpu-2", {}};
  return {"gpu.example.com",
          "rack-7",
          3,
          2,
          {NodeReachKind::devices, "", {}},
          {whole_device(), shared_device(), everywhere, local},
          {{"slices", {{"compute", amount("7")}, {"memory", amount("80Gi")}}}, {"empty", {}}}};
}

DeviceClassFacts device_class() {
  return {
      {{"device.driver == \"gpu.example.com\""}, {std::nullopt}}, "example.com/gpu", 1'767'225'600};
}

ResourceClaimFacts resource_claim() {
  ResourceClaimFacts claim;
  claim.spec = claim_spec();
  claim.allocation = {{{"gpu", "gpu.example.com", "rack-7", "gpu-0", true, "", {}},
                       {"nic/rest",
                        "gpu.example.com",
                        "rack-7",
                        "nic-0",
                        false,
                        "77-aa",
                        {{"bandwidth", amount("1G")}}}},
                      gpu_nodes()};
  claim.reserved_for = {{"", "pods", "train-0", "12ab"}, {"batch", "jobs", "train", "34cd"}};
  claim.pod_owners = {"12ab", "56ef"};
  claim.pod_claim = "gpus";
  claim.extended = true;
  claim.deleting = true;
  return claim;
}

ResourceClaimTemplateFacts resource_claim_template() { return {claim_spec()}; }

DeviceTaintRuleFacts device_taint_rule() {
  return {true, "gpu.example.com", "", "gpu-0", {"maintenance", "tonight", "NoSchedule"}};
}

WorkloadFacts workload_with_devices() {
  WorkloadFacts facts;
  facts.priority = -5;
  facts.created = LogTime{1'767'225'600'000'000'000};
  facts.pod_sets = {{"leader", 1, std::nullopt, {{}, {{"example.com/gpu", 1}}, {}, {}, {}}, {}},
                    {"workers", 4, 3, pod_devices(), {}},
                    {"nowhere", 2, 0, {{}, {}, {}, NodeSelector{}, {}}, {}}};
  facts.devices_reserved = {ConditionStatus::no, "NoCluster", 3};
  return facts;
}

PodFacts pod_with_devices() {
  PodFacts facts;
  facts.set_origin({"job-train-1a2b3", "workers", ""});
  facts.devices = pod_devices();
  return facts;
}

DraSettings dra_settings() {
  return {.quota = false,
          .dispatch = true,
          .fleet_claims = true,
          .device_class_mappings =
              {{"gpus", {"gpu.example.com", "old-gpu.example.com"}, {}},
               {"example.com/gpu-memory",
                {"mig.example.com"},
                {{DeviceSourceKind::counter, "memory", "gpu.example.com", "true"}}},
               {"bandwidth",
                {"nic.example.com"},
                {{DeviceSourceKind::capacity, "bandwidth", "nic.example.com", "true"}}}},
          .policy = DraPolicy::spread,
          .pool_hold = minutes(1),
          .admit_timeout = minutes(2),
          .place_timeout = {},
          .steps_max = 7};
}

}  // namespace fairlead::samples
