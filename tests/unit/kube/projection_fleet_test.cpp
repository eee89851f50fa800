// The projection of fleet claims: the kinds of dra.fairlead.io, and what Workloads say of them.
#include <catch2/catch.hpp>
#include <string>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/projection/projection_fields.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

template <class F>
F projected(const std::string& text) {
  INFO(text);
  return std::get<F>(seen(text).facts);
}

template <class F>
F fleet_facts(const std::string& kind, const std::string& fields) {
  return projected<F>(R"({"apiVersion":"dra.fairlead.io/v1alpha1","kind":")" + kind +
                      R"(","metadata":{"name":"o","namespace":"n","uid":"u"},)" + fields + "}");
}

FleetClaimEntries entries(const std::string& annotation) {
  return projection::fleet_claim_entries(annotation);
}

}  // namespace

TEST_CASE("a FleetResourceClass keeps its driver, its parameters and the clusters that suit it") {
  const auto of = fleet_facts<FleetResourceClassFacts>(
      "FleetResourceClass",
      R"("driverName":"d","parametersRef":{"apiGroup":"g","kind":"K","name":"p"},
         "suitableClusters":["w2","w1","w2"])");
  CHECK(of == FleetResourceClassFacts{"d", {"g", "K", "p"}, {{"w1", "w2"}}});
  const auto bare =
      fleet_facts<FleetResourceClassFacts>("FleetResourceClass", R"("driverName":"d")");
  CHECK(bare == FleetResourceClassFacts{"d", {}, std::nullopt});
}

TEST_CASE("a FleetResourceClaim waits for its first consumer unless it says Immediate") {
  const auto bare = fleet_facts<FleetResourceClaimFacts>("FleetResourceClaim",
                                                         R"("spec":{"resourceClassName":"c"})");
  FleetResourceClaimFacts expected;
  expected.spec.resource_class = "c";
  CHECK(bare == expected);
  CHECK(fleet_facts<FleetResourceClaimFacts>("FleetResourceClaim",
                                             R"("spec":{"allocationMode":"Immediate"})")
            .spec.immediate);
}

TEST_CASE("the resourceHandle of another driver is not kept, for it may hold a secret") {
  const auto allocation_of = [](const std::string& driver, const std::string& handle) {
    return *fleet_facts<FleetResourceClaimFacts>(
                "FleetResourceClaim", R"("status":{"driverName":")" + driver +
                                          R"(","allocation":{"resourceHandle":")" + handle +
                                          R"("}})")
                .allocation;
  };
  CHECK(allocation_of("d", "[]") == FleetAllocation{});
  const std::string handle = R"([\"gpu/rack/1/gpu-0\"])";
  CHECK(allocation_of("d", handle).booked == std::nullopt);
  CHECK(allocation_of("fairlead.io/devices", handle).booked ==
        std::vector<std::string>{"gpu/rack/1/gpu-0"});
  CHECK(allocation_of("fairlead.io/devices", "[7]").booked == std::nullopt);
  CHECK(allocation_of("fairlead.io/devices", "x").booked == std::nullopt);
}

TEST_CASE("only Workloads count as owners") {
  const auto claim = projected<FleetResourceClaimFacts>(
      R"({"apiVersion":"dra.fairlead.io/v1alpha1","kind":"FleetResourceClaim","metadata":{"name":"o",
        "namespace":"n","uid":"u","ownerReferences":[
          {"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","name":"w","uid":"2"},
          {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","name":"w","uid":"1"},
          {"apiVersion":"batch/v1","kind":"Workload","name":"w","uid":"3"},
          {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Job","name":"w","uid":"4"}]}})");
  CHECK(claim.workload_owners == std::vector<std::string>{"1", "2"});
}

TEST_CASE("the annotation of a pod template names claims and templates") {
  CHECK(entries("") == FleetClaimEntries{});
  CHECK(entries(R"([{"name":"a","resourceClaimName":"c"},
                    {"name":"b","resourceClaimTemplateName":"t"}])") ==
        FleetClaimEntries{{{"a", "c", ""}, {"b", "", "t"}}, ""});
}

TEST_CASE("an annotation that cannot be read says why, and names nothing") {
  const auto fault = [](const std::string& annotation) {
    const FleetClaimEntries read = entries(annotation);
    CHECK(read.entries.empty());
    return read.fault;
  };
  CHECK(fault("x") == "no JSON list");
  CHECK(fault("{}") == "no JSON list");
  CHECK(fault(R"([{"resourceClaimName":"c"}])") == "an entry has no name");
  CHECK(fault("[7]") == "an entry has no name");
  CHECK(fault(R"([{"name":"a","resourceClaimName":"c"},{"name":"a","resourceClaimName":"d"}])") ==
        "two entries are called a");
  const std::string both =
      "entry a must have one of resourceClaimName and resourceClaimTemplateName";
  CHECK(fault(R"([{"name":"a"}])") == both);
  CHECK(fault(R"([{"name":"a","resourceClaimName":"c","resourceClaimTemplateName":"t"}])") == both);
  std::string many = "[";
  for (int i = 0; i < 33; ++i)
    many += (i > 0 ? "," : "") + (R"({"name":"e)" + std::to_string(i)) +
            R"(","resourceClaimName":"c"})";
  CHECK(fault(many + "]") == "more than 32 entries");
}
