#include "engine/fold/claims/claim_spec.h"

#include <catch2/catch.hpp>

namespace fairlead::claim_spec_test {
namespace {

const ResourceAliases kAliases = {{"gpu", "nvidia.com/gpu"}};

ClaimSpec spec_of(std::vector<ClaimAssignment> assignments) {
  ClaimSpec spec;
  spec.cluster_name = "c1";
  spec.nominal_resources = {{"cpu", "10"}, {"gpu", "4"}};
  spec.assignments = std::move(assignments);
  return spec;
}

ClaimTerms valid(const ClaimSpec& spec) {
  const auto understood = understand(spec, kAliases);
  REQUIRE(std::holds_alternative<ClaimTerms>(understood));
  return std::get<ClaimTerms>(understood);
}

ClaimFault fault_of(const ClaimSpec& spec) {
  const auto understood = understand(spec, kAliases);
  REQUIRE(std::holds_alternative<ClaimFault>(understood));
  return std::get<ClaimFault>(understood);
}

TEST_CASE("claim spec: rows are sorted, canonical, and keep the spelling") {
  const ClaimTerms terms = valid(spec_of(
      {{"q2", "f", {{"gpu", "1"}}, {}, 7}, {"q1", "g", {{"gpu", "3"}, {"cpu", "2500m"}}, {}, {}}}));
  CHECK(terms.nominal ==
        std::map<std::string, Nominal>{{"cpu", {"cpu", 10000}}, {"nvidia.com/gpu", {"gpu", 4}}});
  CHECK(terms.rows == std::vector<AssignmentRow>{{"q1", "g", "cpu", "cpu", 2500, 0, 0},
                                                 {"q1", "g", "nvidia.com/gpu", "gpu", 3, 0, 0},
                                                 {"q2", "f", "nvidia.com/gpu", "gpu", 1, 0, 7}});
}

TEST_CASE("claim spec: a minimum is at most its assignment, and none without one") {
  const ClaimTerms terms =
      valid(spec_of({{"q", "f", {{"cpu", "2"}}, {{"cpu", "9"}, {"gpu", "1"}}, {}}}));
  REQUIRE(terms.rows.size() == 1);
  CHECK(terms.rows[0].minimum == 2000);
}

TEST_CASE("claim spec: the sum may be the nominal amount and not a milli more") {
  CHECK(valid(spec_of({{"q", "f", {{"cpu", "4"}}, {}, {}}, {"q", "g", {{"cpu", "6"}}, {}, {}}}))
            .rows.size() == 2);
  const ClaimFault fault = fault_of(
      spec_of({{"q", "f", {{"cpu", "4"}}, {}, {}}, {"q", "g", {{"cpu", "6001m"}}, {}, {}}}));
  CHECK(fault.reason == ClaimFaultReason::assignments_exceed_nominal);
  CHECK(fault.message ==
        "spec.resourceAssignments: cpu sums to 10001m, spec.nominalResources has 10");
  // Sums do not wrap: each amount saturates at the end of 64 bits.
  ClaimSpec huge =
      spec_of({{"q", "f", {{"cpu", "9E"}}, {}, {}}, {"q", "g", {{"cpu", "9E"}}, {}, {}}});
  huge.nominal_resources["cpu"] = "9E";
  CHECK(fault_of(huge).reason == ClaimFaultReason::assignments_exceed_nominal);
}

TEST_CASE("claim spec: the first fault in the order of the fields is reported, with its field") {
  const auto reports = [](const ClaimSpec& spec, const char* reason, const char* message) {
    CHECK(text_of(fault_of(spec).reason) == reason);
    CHECK(fault_of(spec).message == message);
  };
  ClaimSpec spec = spec_of({{"q", "f", {{"memory", "1"}}, {}, {}}});
  reports(spec, "NotInNominal",
          "spec.resourceAssignments[0].resources.memory: spec.nominalResources has no memory");
  spec.shrink_policy = "Fair";
  reports(spec, "Malformed", "spec.shrinkPolicy: expected Proportional or Priority, got \"Fair\"");
  spec.nominal_resources["nvidia.com/gpu"] = "4";
  reports(spec, "AliasWithCanonicalName",
          "spec.nominalResources: gpu and nvidia.com/gpu both mean nvidia.com/gpu");
  spec.nominal_resources["cpu"] = "-1";
  reports(spec, "NegativeQuantity", "spec.nominalResources.cpu: -1 is negative");
  spec.nominal_resources["cpu"] = "much";
  reports(spec, "Malformed", "spec.nominalResources.cpu: expected a quantity, got \"much\"");
  spec.cluster_name = "hub";
  reports(spec, "Malformed", "spec.clusterName: \"hub\" is the name of no member");
  spec.cluster_name.clear();
  reports(spec, "Malformed", "spec.clusterName: expected a name, got nothing");
  spec.malformed = "spec.priority: expected a number, got text";
  reports(spec, "Malformed", "spec.priority: expected a number, got text");
}

TEST_CASE("claim spec: a queue and flavor are assigned once, and both have names") {
  CHECK(fault_of(spec_of({{"q", "f", {}, {}, {}}, {"q", "f", {}, {}, {}}})) ==
        ClaimFault{ClaimFaultReason::duplicate_assignment,
                   "spec.resourceAssignments[1]: (q, f) is assigned twice"});
  CHECK(fault_of(spec_of({{"", "f", {}, {}, {}}})).message ==
        "spec.resourceAssignments[0].clusterQueueName: expected a name, got nothing");
  CHECK(fault_of(spec_of({{"q", "", {}, {}, {}}})).message ==
        "spec.resourceAssignments[0].flavor: expected a name, got nothing");
}

TEST_CASE(
    "claim spec: headroom is whole percents from 0 to 100; an absent map is not an empty one") {
  ClaimSpec spec = spec_of({});
  CHECK_FALSE(valid(spec).headroom_percent);
  spec.headroom.percent.emplace();
  CHECK(valid(spec).headroom_percent->empty());
  CHECK_FALSE(valid(spec).headroom_reserved);
  for (const char* percent : {"0", "100", "5e1"}) {
    spec.headroom.percent = std::map<std::string, std::string>{{"gpu", percent}};
    INFO(percent);
    CHECK(valid(spec).headroom_percent->contains("nvidia.com/gpu"));
  }
  for (const char* percent : {"101", "-1", "2500m", "half", ""}) {
    spec.headroom.percent = std::map<std::string, std::string>{{"gpu", percent}};
    INFO(percent);
    CHECK(fault_of(spec).reason == ClaimFaultReason::malformed);
  }
  spec.headroom.percent.reset();
  spec.headroom.reserved = std::map<std::string, std::string>{{"cpu", "1500m"}};
  CHECK(*valid(spec).headroom_reserved == std::map<std::string, Amount>{{"cpu", 1500}});
}

TEST_CASE("claim spec: every choice has a default and its words") {
  ClaimSpec spec = spec_of({});
  CHECK(valid(spec).nominal_policy == NominalPolicy::fixed);
  CHECK(valid(spec).flavor_capacity == FlavorCapacity::automatic);
  CHECK(valid(spec).shrink_policy == ShrinkPolicy::proportional);
  spec.nominal_policy = "TrackCapacity";
  spec.flavor_capacity = "TotalOnly";
  spec.shrink_policy = "Priority";
  CHECK(valid(spec).nominal_policy == NominalPolicy::track_capacity);
  CHECK(valid(spec).flavor_capacity == FlavorCapacity::total_only);
  CHECK(valid(spec).shrink_policy == ShrinkPolicy::priority);
  spec.flavor_capacity = "strict";
  CHECK(fault_of(spec).message ==
        "spec.flavorCapacity: expected Auto or Strict or TotalOnly, got \"strict\"");
}

}  // namespace
}  // namespace fairlead::claim_spec_test
