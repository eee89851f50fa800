// The rules about claims, one by one; engine/admission/claim_rules.cpp.
#include <catch2/catch.hpp>

#include "tests/unit/admission/stage.h"

namespace fairlead::admission_test {
namespace {

const ClaimFacts kTen = claim_facts({{"cpu", "10"}}, {row("q", "od", {{"cpu", "10"}})});

AdmissionRequest edited(const ClaimFacts& to) { return update(Kind::claim, "k", kTen, to); }

TEST_CASE("claimInvalid: the fold's own fault, with the field apart") {
  Stage stage;
  const auto bad = claim_facts({{"cpu", "10"}}, {row("q", "od", {{"cpu", "11"}})});
  CHECK(stage.findings(create(Kind::claim, "k", bad)) ==
        Texts{"claimInvalid deny spec.resourceAssignments: cpu sums to 11, spec.nominalResources "
              "has 10"});
  const auto verdict = stage.judged(create(Kind::claim, "k", bad));
  CHECK(verdict.denied());
  CHECK(verdict.findings[0].objection.field == "spec.resourceAssignments");
  CHECK(verdict.findings[0].objection.cause == CauseType::invalid);
  auto twice = kTen;
  twice.spec.assignments.push_back(row("q", "od", {{"cpu", "0"}}));
  CHECK(
      stage.judged(create(Kind::claim, "k", twice)).findings[0].objection ==
      Objection{"spec.resourceAssignments[1]", CauseType::duplicate, "(q, od) is assigned twice"});
  auto both = claim_facts({{"gpu", "1"}, {"nvidia.com/gpu", "1"}}, {});
  CHECK(stage.judged(create(Kind::claim, "k", both)).findings[0].objection.cause ==
        CauseType::duplicate);
}

TEST_CASE("claimInvalid: asked only of a spec that is new") {
  Stage stage;
  const auto bad = claim_facts({{"cpu", "x"}}, {});
  CHECK(stage.findings(edited(bad)).size() == 1);
  CHECK(stage.findings(update(Kind::claim, "k", bad, bad)).empty());
  CHECK(stage.findings(remove(Kind::claim, "k", bad)).empty());
}

TEST_CASE("claimInvalid: it can be a warning, and is never off") {
  Stage stage;
  const auto bad = claim_facts({{"cpu", "x"}}, {});
  stage.sets(AdmissionRule::claim_invalid, RuleAction::warn);
  CHECK_FALSE(stage.judged(create(Kind::claim, "k", bad)).denied());
  stage.sets(AdmissionRule::claim_invalid, RuleAction::off);
  CHECK(stage.judged(create(Kind::claim, "k", bad)).findings.size() == 1);
}

TEST_CASE("clusterTaken: a second claim for a cluster") {
  Stage stage;
  stage.claims(kTen, "older");
  const auto verdict = stage.judged(create(Kind::claim, "newer", kTen));
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].rule == AdmissionRule::cluster_taken);
  CHECK(verdict.findings[0].objection ==
        Objection{"spec.clusterName", CauseType::duplicate,
                  "ClusterResourceClaim older has the cluster east: a younger claim is granted "
                  "nothing"});
  SECTION("the same name is no second claim") {
    CHECK(stage.findings(create(Kind::claim, "older", kTen)).empty());
  }
  SECTION("nor is an edit, or a claim for another cluster") {
    CHECK(stage.findings(update(Kind::claim, "newer", claim_facts({}, {}), kTen)).empty());
    auto west = kTen;
    west.spec.cluster_name = "west";
    CHECK(stage.findings(create(Kind::claim, "newer", west)).empty());
  }
  SECTION("a claim that is being deleted has no cluster") {
    stage.state.claims.by_name["older"].facts.deleting = true;
    stage.state.claims.by_name["older"].winner = false;
    CHECK(stage.findings(create(Kind::claim, "newer", kTen)).empty());
  }
}

TEST_CASE("overCapacity: by the total, and by a flavor that bounds") {
  Stage stage;
  const auto spread = claim_facts(
      {{"cpu", "20"}}, {row("q", "od", {{"cpu", "6"}}), row("q", "spot", {{"cpu", "4"}})});
  stage.sets(AdmissionRule::nominal_above_capacity, RuleAction::off);
  SECTION("an unknown capacity is not zero") {
    CHECK(stage.findings(create(Kind::claim, "k", spread)).empty());
    stage.accepts({{{"od", "cpu"}, 1000}}).known = false;
    CHECK(stage.findings(create(Kind::claim, "k", spread)).empty());
  }
  SECTION("a detached cluster says nothing either") {
    stage.accepts({{{"od", "cpu"}, 1000}}).presence.detached = true;
    CHECK(stage.findings(create(Kind::claim, "k", spread)).empty());
  }
  SECTION("equal is within") {
    stage.accepts({{{"od", "cpu"}, 6000}, {{"spot", "cpu"}, 4000}});
    CHECK(stage.findings(create(Kind::claim, "k", spread)).empty());
  }
  SECTION("one milli-core above") {
    stage.accepts({{{"od", "cpu"}, 5999}, {{"spot", "cpu"}, 4001}});
    CHECK(stage.findings(create(Kind::claim, "k", spread)) ==
          Texts{"overCapacity warn spec.resourceAssignments: cpu of flavor od sums to 6, the "
                "cluster has 5999m: the grants will be shared by the shrink policy Proportional"});
  }
  SECTION("totals alone bound no flavor") {
    stage.accepts({{{"", "cpu"}, 9000}});
    CHECK(stage.findings(create(Kind::claim, "k", spread)) ==
          Texts{"overCapacity warn spec.resourceAssignments: cpu sums to 10, the cluster has 9: "
                "the grants will be shared by the shrink policy Proportional"});
  }
  SECTION("a flavor that never had a node bounds where the claim is Strict") {
    stage.accepts({{{"od", "cpu"}, 60000}});
    CHECK(stage.findings(create(Kind::claim, "k", spread)).empty());
    auto strict = spread;
    strict.spec.flavor_capacity = "Strict";
    strict.spec.shrink_policy = "Priority";
    CHECK(stage.findings(create(Kind::claim, "k", strict)) ==
          Texts{"overCapacity warn spec.resourceAssignments: cpu of flavor spot sums to 4, the "
                "cluster has 0: the grants will be shared by the shrink policy Priority"});
  }
}

TEST_CASE("overCapacity: sums of amounts near the end of int64 do not wrap") {
  Stage stage;
  stage.accepts({{{"od", "memory"}, INT64_MAX}, {{"spot", "memory"}, 1}});
  stage.sets(AdmissionRule::nominal_above_capacity, RuleAction::off);
  auto claim = claim_facts({{"memory", "9E"}}, {row("q", "od", {{"memory", "5E"}}),
                                                row("q", "spot", {{"memory", "1"}})});
  claim.spec.flavor_capacity = "TotalOnly";
  CHECK(stage.findings(create(Kind::claim, "k", claim)).empty());
  claim.spec.flavor_capacity = "";
  claim.spec.assignments[1] = row("q", "spot", {{"memory", "4E"}});
  CHECK(stage.findings(create(Kind::claim, "k", claim)).size() == 1);
}

TEST_CASE("nominalAboveCapacity: the ceiling of each resource") {
  Stage stage;
  stage.accepts({{{"od", "cpu"}, 9999}, {{"od", "memory"}, 1 << 20}});
  const auto claim = claim_facts({{"cpu", "10"}, {"memory", "1Mi"}}, {});
  CHECK(stage.findings(create(Kind::claim, "k", claim)) ==
        Texts{"nominalAboveCapacity warn spec.nominalResources.cpu: 10 is above the 9999m that the "
              "cluster has"});
}

TEST_CASE("unknownTarget: names all in one warning") {
  Stage stage;
  auto claim = claim_facts({{"cpu", "10"}}, {});
  for (const char* queue : {"a", "b", "q"})
    for (const char* flavor : {"od", "tpu"})
      claim.spec.assignments.push_back(row(queue, flavor, {{"cpu", "1"}}));
  stage.state.flavors.gone.insert("spot");
  CHECK(stage.findings(create(Kind::claim, "k", claim)) ==
        Texts{"unknownTarget warn spec.resourceAssignments: not there yet, what is assigned waits "
              "for it: ClusterQueue a, b; ResourceFlavor tpu"});
  claim.spec.assignments = {row("q", "spot", {{"cpu", "1"}})};
  CHECK(stage.findings(create(Kind::claim, "k", claim)) ==
        Texts{"unknownTarget warn spec.resourceAssignments: not there yet, what is assigned waits "
              "for it: ResourceFlavor spot"});
}

TEST_CASE("belowUsage: an edit that lowers an assignment below what runs") {
  Stage stage;
  stage.claims(kTen);
  stage.state.clusters["east"];
  stage.uses("od", "cpu", 6000);
  const auto to = [](const std::string& cpu) {
    return edited(claim_facts({{"cpu", "10"}}, {row("q", "od", {{"cpu", cpu}})}));
  };
  CHECK(stage.findings(to("6")).empty());
  CHECK(stage.findings(to("5999m")) ==
        Texts{"belowUsage warn spec.resourceAssignments: cpu of (queue q, flavor od) falls from 10 "
              "to 5999m, 6 is in use: Kueue evicts no running workload"});
  CHECK(stage.findings(edited(claim_facts({{"cpu", "10"}}, {}))) ==
        Texts{"belowUsage warn spec.resourceAssignments: cpu of (queue q, flavor od) falls from 10 "
              "to 0, 6 is in use: Kueue evicts no running workload"});
  SECTION("not where it was below before and does not fall") {
    stage.uses("od", "cpu", 6000);  // 12 in all
    auto other = kTen;
    other.spec.shrink_policy = "Priority";
    CHECK(stage.findings(edited(other)).empty());
  }
  SECTION("two claims feed the pair: whose usage it is is not known") {
    stage.claims(claim_facts({{"cpu", "1"}}, {row("q", "od", {{"cpu", "1"}})}, "west"), "k2");
    CHECK(stage.findings(to("1")).empty());
  }
  SECTION("where the member reports usage, that counts") {
    stage.state.clusters["east"].member.queues["q"].usage = {{"od", "cpu", 2000}};
    CHECK(stage.findings(to("2")).empty());
    CHECK(stage.findings(to("1")).size() == 1);
  }
}

TEST_CASE("claimInUse: a claim is deleted while something runs on its pairs") {
  Stage stage;
  ClaimFacts facts = claim_facts({{"cpu", "9"}}, {});
  stage.state.clusters["east"];
  for (const char* flavor : {"a", "b", "c", "d"})
    facts.spec.assignments.push_back(row("q", flavor, {{"cpu", "1"}}));
  stage.claims(facts);
  CHECK(stage.findings(remove(Kind::claim, "k", facts)).empty());
  stage.uses("b", "cpu", 500);
  CHECK(
      stage.findings(remove(Kind::claim, "k", facts)) ==
      Texts{"claimInUse warn in use: 500m cpu of (queue q, flavor b); the hub will take the quota "
            "back, and Kueue evicts no running workload"});
  for (const char* flavor : {"a", "c", "d"}) stage.uses(flavor, "cpu", 1000);
  CHECK(stage.findings(remove(Kind::claim, "k", facts))[0].find(
            "(queue q, flavor c) and of 1 more;") != std::string::npos);
  stage.sets(AdmissionRule::claim_in_use, RuleAction::deny);
  CHECK(stage.judged(remove(Kind::claim, "k", facts)).denied());
  CHECK(stage.findings(edited(facts)).size() == 1);  // unknownTarget: no such flavors
}

}  // namespace
}  // namespace fairlead::admission_test
