#include "engine/fleet/placement_controller.h"

#include <catch2/catch.hpp>

#include "engine/fleet/worker_world.h"
#include "tests/unit/fleet/stage.h"

using namespace fairlead;

namespace {

using Names = std::vector<std::string>;

Json placement(const char* spec) { return {{"spec", Json::parse(spec)}}; }

const char* const kBest = R"({"numberOfClusters": 1, "prioritizerPolicy": {"configurations": [
    {"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "a", "scoreName": "x"}}},
    {"weight": -2, "scoreCoordinate": {"type": "AddOn",
                                       "addOn": {"resourceName": "a", "scoreName": "y"}}}]}})";

std::vector<PlacementCandidate> three() {
  return {{"east", {{"gpu", "t4"}}, {{"a/x", 50}, {"a/y", 10}}},
          {"north", {}, {}},
          {"west", {{"gpu", "t4"}, {"zone", "b"}}, {{"a/x", 40}}}};
}

}  // namespace

TEST_CASE("a Placement without anything selects every cluster, by name") {
  CHECK(select_clusters(placement("{}"), three()) == Names{"east", "north", "west"});
  CHECK(select_clusters(placement("{}"), {}).empty());
}

TEST_CASE("a predicate needs all of its labels, and one of several is enough") {
  const auto labelled = placement(R"({"predicates": [
      {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"gpu": "t4", "zone": "b"}}}}]})");
  CHECK(select_clusters(labelled, three()) == Names{"west"});
  const auto either = placement(R"({"predicates": [
      {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"gpu": "a100"}}}},
      {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"gpu": "t4"}}}}]})");
  CHECK(select_clusters(either, three()) == Names{"east", "west"});
}

TEST_CASE("the weighted sum decides; a missing score is 0, of equal sums the first name wins") {
  const Json best = placement(kBest);
  const std::vector<PlacementCandidate> candidates = three();
  CHECK(placement_score(best, candidates[0]) == 30);
  CHECK(placement_score(best, candidates[1]) == 0);
  CHECK(placement_score(best, candidates[2]) == 40);
  CHECK(select_clusters(best, candidates) == Names{"west"});
  CHECK(select_clusters(best, {{"b", {}, {}}, {"a", {}, {{"a/x", -1}}}, {"c", {}, {}}}) ==
        Names{"b"});
}

TEST_CASE("a decision is written when it changes, and reported with the scores that made it") {
  SetClock clock;
  const auto hub = serve(clock);
  const Api api(*hub, "test");
  Names lines;
  PlacementController controller(
      *hub, [&](std::string_view, const std::string& what) { lines.push_back(what); });
  REQUIRE(api.create(kNamespaces, namespace_object(kKueueSystem).object).has_value());
  for (const WorkerCluster& cluster : worker_clusters())
    for (const WorldObject& wanted : worker_cluster_objects(cluster))
      REQUIRE(api.create(wanted.collection, wanted.object).has_value());
  for (const WorldObject& wanted : placement_objects())
    if (wanted.collection == kPlacements && wanted.object["metadata"]["name"] == "best")
      REQUIRE(api.create(kPlacements, wanted.object).has_value());
  const auto score = [&](const std::string& cluster, std::int64_t value) {
    REQUIRE(
        api.merge(score_path(cluster) + "/status", {{"status", score_status(value)}}).has_value());
  };
  const auto decided = [&] {
    clock.time = clock.time + seconds(2);
    controller.look(clock.time);
    const auto decision = api.get(kDecisions + "/best-decision-1");
    REQUIRE(decision.has_value());
    CHECK((*decision)["metadata"]["labels"][kPlacementLabel] == "best");
    CHECK((*decision)["status"]["decisions"].size() == 1);
    return (*decision)["status"]["decisions"][0]["clusterName"].get<std::string>();
  };
  score("west", 12);
  CHECK(decided() == "west");
  const std::uint64_t writes = controller.writes();
  score("west", 11);
  CHECK(decided() == "west");
  CHECK(controller.writes() == writes);
  score("east", 16);
  CHECK(decided() == "east");
  CHECK(lines == Names{"Placement best selects west (scores: east 0, north 0, west 12)",
                       "Placement best selects east instead of west (scores: east 16, north 0, "
                       "west 11)"});
}
