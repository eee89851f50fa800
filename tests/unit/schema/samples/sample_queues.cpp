#include "tests/unit/schema/samples/sample_queues.h"

namespace fairlead::samples {

namespace {

Quantity quantity(std::string_view text) { return *Quantity::parse(text); }

}  // namespace

ResourceGroup resource_group() {
  ResourceQuota cpu{"cpu", quantity("1500m"), quantity("2"), std::nullopt};
  ResourceQuota memory{"memory", quantity("36Gi"), std::nullopt, quantity("0")};
  ResourceQuota large{"example.com/large",
                      Quantity{-(Int128{1} << 100), QuantityFormat::decimal_si},
                      Quantity{Int128{1} << 100, QuantityFormat::binary_si}, quantity("1n")};
  return {{"cpu", "memory", "example.com/large"},
          {{"default-flavor", {cpu, memory, large}}, {"empty", {}}}};
}

ResourceGroup spelled_group() {
  const SpelledQuantity odd(quantity("1500m"), "1.5");
  return {{"cpu"}, {{"default-flavor", {{"cpu", odd, odd, quantity("2")}}}}};
}

ClusterQueueFacts cluster_queue() {
  ClusterQueueFacts facts;
  facts.groups = {resource_group(), {{"nvidia.com/gpu"}, {}}};
  facts.cohort = "research";
  facts.namespace_selector = R"({"matchLabels":{"team":"a"}})";
  facts.queueing_strategy = "BestEffortFIFO";
  facts.preemption = R"({"reclaimWithinCohort":"Any"})";
  facts.stop_policy = "None";
  facts.admission_checks = {"fairlead", "other"};
  facts.base_quota = R"({"default-flavor":{"cpu":"1"}})";
  facts.extend_resource_groups = true;
  facts.usage = {{"default-flavor", "cpu", 250}, {"default-flavor", "memory", 1 << 20}};
  facts.active = {ConditionStatus::yes, "BecauseOfTests", 3};
  facts.deleting = true;
  return facts;
}

EffectiveQuotas effective_quotas() {
  return {{"kueue.x-k8s.io", "DynamicQuotaOrchestrator", "production"}, {resource_group()}};
}

SharingTerms sharing_terms() {
  return {quantity("1500m"), R"({"whenCanBorrow":"TryNextFlavor"})",
          R"({"admissionMode":"UsageBasedAdmissionFairSharing"})",
          R"({"migration":{"mode":"RetainFirstAdmission"}})",
          R"([{"name":"other","onFlavors":["default-flavor"]}])"};
}

CohortTerms cohort_terms() { return {{resource_group()}, quantity("2")}; }

}  // namespace fairlead::samples
