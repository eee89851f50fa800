// The rules about annotations and about the objects that claims name;
// engine/admission/object_rules.cpp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <limits>

#include "tests/unit/admission/stage.h"

namespace fairlead::admission_test {
namespace {

const ClaimFacts kFive = claim_facts({{"cpu", "10"}}, {row("q", "od", {{"cpu", "5"}})});
const ClusterQueueFacts kAsGranted = queue_facts("cpu", {{"od", "5"}, {"spot", "3"}});

AdmissionRequest quota(const std::map<std::string, std::string>& quotas) {
  return update(Kind::cluster_queue, "q", kAsGranted, queue_facts("cpu", quotas));
}

struct OwnedStage : Stage {
  OwnedStage() {
    claims(kFive);
    state.queues.by_name["q"].facts = kAsGranted;
    state.queues.by_name["q"].written = {{{"od", "cpu"}, 5000}};
  }
};

TEST_CASE("ownedQuota: a value that a claim grants is changed, or its pair dropped") {
  OwnedStage stage;
  const std::string ways = ". Change the claim, or the annotation fairlead.io/base-quota";
  CHECK(stage.findings(quota({{"od", "7"}, {"spot", "3"}})) ==
        Texts{"ownedQuota warn spec.resourceGroups: nominalQuota of (od, cpu) is 5 by "
              "ClusterResourceClaim k: the hub will set it back to 5" +
              ways});
  CHECK(stage.findings(quota({{"spot", "3"}})) ==
        Texts{"ownedQuota warn spec.resourceGroups: nominalQuota of (od, cpu) is 5 by "
              "ClusterResourceClaim k: the hub will add the pair again with 5" +
              ways});
  CHECK(stage.judged(quota({{"spot", "3"}})).findings[0].objection.cause == CauseType::forbidden);
}

TEST_CASE("ownedQuota: what is no change of an owned value") {
  OwnedStage stage;
  CHECK(stage.findings(quota({{"od", "5000m"}, {"spot", "3"}})).empty());  // respelt
  CHECK(stage.findings(quota({{"od", "5"}, {"spot", "9"}})).empty());      // foreign pair
  CHECK(stage.findings(quota({{"od", "5"}, {"spot", "3"}, {"x", "1"}})).empty());
  auto borrowing = kAsGranted;
  borrowing.groups[0].flavors[0].resources[0].borrowing_limit = Quantity::parse("1");
  CHECK(stage.findings(update(Kind::cluster_queue, "q", kAsGranted, borrowing)).empty());
  // Back to the value that the hub wants.
  CHECK(stage
            .findings(update(Kind::cluster_queue, "q", queue_facts("cpu", {{"od", "9"}}),
                             queue_facts("cpu", {{"od", "5"}})))
            .empty());
  CHECK(
      stage.findings(create(Kind::cluster_queue, "q", queue_facts("cpu", {{"od", "9"}}))).empty());
}

TEST_CASE("ownedQuota: the alias and its canonical name are one pair") {
  Stage stage;
  stage.claims(claim_facts({{"gpu", "8"}}, {row("q", "od", {{"gpu", "4"}})}));
  stage.state.queues.by_name["q"].written = {{{"od", "nvidia.com/gpu"}, 4}};
  const auto before = queue_facts("nvidia.com/gpu", {{"od", "4"}});
  CHECK(stage
            .findings(update(Kind::cluster_queue, "q", before,
                             queue_facts("nvidia.com/gpu", {{"od", "5"}})))
            .size() == 1);
  CHECK(stage.findings(update(Kind::cluster_queue, "q", before, queue_facts("gpu", {{"od", "4"}})))
            .empty());
}

TEST_CASE("ownedQuota: eight times as many flavors take some eight times as long") {
  const auto took = [](std::size_t flavors) {
    std::map<std::string, std::string> before, after;
    for (std::size_t i = 0; i < flavors; ++i) {
      before["f" + std::to_string(i)] = "1";
      after["f" + std::to_string(i)] = "2";
    }
    OwnedStage stage;
    stage.state.queues.by_name["q"].facts = queue_facts("cpu", before);
    const AdmissionRequest request =
        update(Kind::cluster_queue, "q", queue_facts("cpu", before), queue_facts("cpu", after));
    const AdmissionView view = view_of(stage.state);
    std::clock_t least = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 3; ++i) {
      const std::clock_t began = std::clock();                 // of the CPU: others may be busy
      CHECK(owned_quota(question_of(view, request)).empty());  // no claim names one of them
      least = std::min(least, std::clock() - began);
    }
    return least;
  };
  // The square would be 64 times.
  CHECK(took(8 * 1000) < 32 * took(1000));
}

TEST_CASE("ownedQuota: many claims are counted, deleted ones are none") {
  OwnedStage stage;
  for (const char* name : {"a", "b", "c", "d"})
    stage.claims(claim_facts({{"cpu", "1"}}, {row("q", "od", {{"cpu", "1"}})}, name), name);
  stage.state.claims.by_name["a"].facts.deleting = true;
  CHECK(stage.findings(quota({{"spot", "3"}}))[0].find(
            "ClusterResourceClaim b, c, d and 1 more:") != std::string::npos);
  for (auto& [name, claim] : stage.state.claims.by_name) claim.facts.deleting = true;
  CHECK(stage.findings(quota({{"spot", "3"}})).empty());
}

TEST_CASE("ownedQuota: nothing is said where the hub would not set the value back") {
  OwnedStage stage;
  SECTION("an OwnershipConflict") { stage.state.queues.by_name["q"].contested = {{"od", "cpu"}}; }
  SECTION("nothing was written yet, and the value is a person's") {
    stage.state.queues.by_name["q"].written.clear();
  }
  SECTION("a hub that only records") { stage.state.configuration.record = true; }
  SECTION("an orchestrator") {
    stage.state.queues.by_name["q"].facts.effective =
        EffectiveQuotas{{"g", "Orchestrator", "o"}, {}};
  }
  CHECK(stage.findings(quota({{"spot", "3"}})).empty());
}

TEST_CASE("ownedQuota: every pair of a queue that follows its workers is owned") {
  Stage stage;
  stage.state.queues.by_name["q"].workers.follows = true;
  CHECK(stage.findings(quota({{"od", "5"}, {"spot", "4"}})).empty());  // before they have reported
  stage.state.queues.by_name["q"].workers.known = true;
  const auto found = stage.findings(quota({{"od", "5"}, {"spot", "4"}}));
  REQUIRE(found.size() == 1);
  CHECK(
      found[0].find("nominalQuota of (spot, cpu) is 3 by the queue's workers: the hub will set it "
                    "back to 3") != std::string::npos);
}

TEST_CASE("badBase: an annotation that cannot be read, when it is set or changed") {
  Stage stage;
  const auto with = [](const std::string& name, const std::string& value) {
    auto request = update(Kind::cluster_queue, "q", kAsGranted, kAsGranted);
    request.object->annotations[name] = value;
    return request;
  };
  CHECK(stage.findings(with("base-quota", R"({"od":{"cpu":"1"}})")).empty());
  CHECK(stage.findings(with("base-quota", R"({"od":{"cpu":"-1"}})")) ==
        Texts{"badBase deny metadata.annotations[fairlead.io/base-quota]: od.cpu: expected a "
              "quantity >= 0, got -1"});
  CHECK(stage.findings(with("base-quota", "5")).size() == 1);
  CHECK(stage.findings(with("quota-percent", "90")).empty());
  CHECK(stage.findings(with("quota-percent", "x")).size() == 1);
  CHECK(stage.findings(with("quota-reserve", "[]")).size() == 1);
  CHECK(stage.findings(with("quota-from", "elsewhere")).size() == 1);
  CHECK(stage.findings(with("extend-resource-groups", "yes")).size() == 1);
  CHECK(stage.findings(with("of-a-later-version", "x")).empty());
  auto kept = with("base-quota", "5");
  kept.old_object->annotations = kept.object->annotations;
  CHECK(stage.findings(kept).empty());

  auto claim = create(Kind::claim, "k", kFive);
  claim.object->annotations = {{"debounce.growWindow", "soon"}, {"debounce.shrinkWindow", "5s"}};
  const auto found = stage.findings(claim);
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with(
      "badBase deny metadata.annotations[fairlead.io/debounce.growWindow]: \"soon\": "));
}

TEST_CASE("queueInUse, flavorInUse: an object that claims name is deleted") {
  Stage stage;
  const auto queue = remove(Kind::cluster_queue, "q", kAsGranted);
  const auto flavor = remove(Kind::resource_flavor, "od", ResourceFlavorFacts{});
  CHECK(stage.findings(queue).empty());
  CHECK(stage.findings(flavor).empty());
  stage.claims(kFive);
  CHECK(stage.findings(queue) ==
        Texts{"queueInUse warn ClusterResourceClaim k assigns quota to it: what is granted there "
              "waits until the queue is back"});
  CHECK(stage.findings(flavor) ==
        Texts{"flavorInUse warn ClusterResourceClaim k assigns quota of it: Kueue stops every "
              "ClusterQueue that has a missing flavor"});
  CHECK(stage.findings(remove(Kind::resource_flavor, "spot", ResourceFlavorFacts{})).empty());
}

TEST_CASE("clusterInUse: a ManagedCluster is deleted while its claim is in use") {
  Stage stage;
  const auto cluster = remove(Kind::managed_cluster, "east", ManagedClusterFacts{});
  stage.state.clusters["east"];
  stage.claims(kFive);
  CHECK(stage.findings(cluster).empty());
  stage.uses("od", "cpu", 2000);
  CHECK(stage.findings(cluster) ==
        Texts{"clusterInUse warn in use by ClusterResourceClaim k: 2 cpu of (queue q, flavor od); "
              "the hub will take its quota back as soon as the cluster is gone"});
}

}  // namespace
}  // namespace fairlead::admission_test
