// The fleet on a model of its own, without a hub: what it makes of the script.
#include "engine/fleet/machine_fleet.h"

#include <catch2/catch.hpp>

#include "tests/unit/fleet/stage.h"

using namespace fairlead;

namespace {

struct MachineStage {
  MachineStage() : hub_api(*hub, "test"), cluster1_api(*cluster1, "test") {
    REQUIRE(fleet.begin().has_value());
  }

  void play_to(Duration at) {
    for (std::int64_t ns = clock.time.ns - kStart.ns; ns <= at.ns; ns += seconds(1).ns) {
      clock.time = kStart + Duration{ns};
      fleet.advance(clock.time);
    }
  }
  /// The nodes of `cluster` in its ClusterMetrics whose taints keep pods away.
  std::size_t tainted(const std::string& cluster) {
    std::size_t count = 0;
    const auto metrics = hub_api.get(kClusterMetrics + "/" + cluster);
    REQUIRE(metrics.has_value());
    for (const Json& node : (*metrics)["status"]["nodes"]) count += node["taints"].empty() ? 0 : 1;
    return count;
  }
  bool said(const std::string& words) const {
    for (const std::string& line : lines)
      if (line.find(words) != std::string::npos) return true;
    return false;
  }

  SetClock clock;
  std::unique_ptr<model::SharedModel> hub = serve(clock), cluster1 = serve(clock);
  Api hub_api, cluster1_api;
  std::vector<std::string> lines;
  MachineFleet fleet{*hub,
                     {{"cluster1", cluster1.get()}},
                     7,
                     kStart,
                     [this](std::string_view who, const std::string& what) {
                       lines.push_back(std::string(who) + " " + what);
                     }};
};

ScheduledFault first(FaultKind kind) {
  for (const ScheduledFault& fault : script_of_round(7, 0))
    if (fault.kind == kind) return fault;
  FAIL("the script has none");
  return {};
}

}  // namespace

TEST_CASE("three clusters, two flavors, two queues and a claim are there from the start") {
  MachineStage stage;
  const auto clusters = stage.hub_api.get(kManagedClusters);
  REQUIRE(clusters.has_value());
  CHECK((*clusters)["items"].size() == 3);
  CHECK((*stage.hub_api.get(kFlavors))["items"].size() == 2);
  CHECK((*stage.hub_api.get(kQueues))["items"].size() == 2);
  CHECK((*stage.hub_api.get(kClaims))["items"].size() == 1);
  CHECK((*stage.hub_api.get(kClusterMetrics))["items"].size() == 2);
  CHECK((*stage.cluster1_api.get(kNodes))["items"].size() == 12);
  const auto condition = (*clusters)["items"][0]["status"]["conditions"][2];
  CHECK(condition["type"] == "ManagedClusterConditionAvailable");
  CHECK(condition["status"] == "True");
}

TEST_CASE("a drained node is unschedulable at its own API server, and then not") {
  MachineStage stage;
  const ScheduledFault drain = first(FaultKind::cordon);
  stage.play_to(Duration{drain.at.ns + seconds(2).ns});
  const std::string path = kNodes + "/" + drain.nodes.front();
  CHECK((*stage.cluster1_api.get(path))["spec"].value("unschedulable", false));
  stage.play_to(Duration{drain.at.ns + seconds(60).ns});
  CHECK_FALSE((*stage.cluster1_api.get(path))["spec"].value("unschedulable", false));
  CHECK(stage.said("fleet cluster1: " + drain.nodes.front() + " is cordoned"));
}

TEST_CASE("a rack without power shows in ClusterMetrics until it has power again") {
  MachineStage stage;
  const ScheduledFault* lost = nullptr;
  const std::vector<ScheduledFault> script = script_of_round(7, 0);
  for (const ScheduledFault& fault : script)
    if (fault.kind == FaultKind::stop && fault.nodes.size() > 1) lost = &fault;
  REQUIRE(lost != nullptr);
  stage.play_to(Duration{lost->at.ns + seconds(2).ns});
  CHECK(stage.tainted("cluster3") == lost->nodes.size());
  stage.play_to(Duration{lost->at.ns + minutes(5).ns});
  CHECK(stage.tainted("cluster3") == 0);
}

TEST_CASE("an assignment waits for the claim that the hub makes") {
  MachineStage stage;
  const ScheduledFault assign = first(FaultKind::assign);
  stage.play_to(Duration{assign.at.ns + minutes(1).ns});
  CHECK_FALSE(stage.said("assigns its capacity"));
  const Json claim = {
      {"apiVersion", "galaxy.kubestellar.io/v1alpha1"},
      {"kind", "ClusterResourceClaim"},
      {"metadata", {{"name", assign.cluster + "-resource-claim"}}},
      {"spec",
       {{"clusterName", assign.cluster},
        {"nominalResources", {{"cpu", "1000"}, {"memory", "1000Gi"}, {"nvidia.com/gpu", "10"}}}}}};
  REQUIRE(stage.hub_api.create(kClaims, claim).has_value());
  stage.play_to(Duration{assign.at.ns + minutes(2).ns});
  CHECK(stage.said("admin " + assign.cluster + ": kubectl edit"));
  const auto assigned = stage.hub_api.get(kClaims + "/" + assign.cluster + "-resource-claim");
  CHECK((*assigned)["spec"]["resourceAssignments"].size() == 2);
}

TEST_CASE("a work is reported as applied a moment later, with what its queues use") {
  MachineStage stage;
  const std::string works =
      "/apis/work.open-cluster-management.io/v1/namespaces/cluster2/manifestworks";
  const Json work = Json::parse(R"({
    "apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
    "metadata": {"name": "w"},
    "spec": {"workload": {"manifests": [{
      "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"},
      "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
        {"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "10"}]}]}]}}]}}})");
  REQUIRE(stage.hub_api.create(works, work).has_value());
  stage.play_to(seconds(1));
  CHECK_FALSE((*stage.hub_api.get(works + "/w"))["status"].contains("conditions"));
  stage.play_to(seconds(10));
  const Json status = (*stage.hub_api.get(works + "/w"))["status"];
  REQUIRE(status["conditions"].size() == 2);
  CHECK(status["conditions"][1]["type"] == "Available");
  CHECK(status["conditions"][1]["observedGeneration"] == 1);
  const Json values = status["resourceStatus"]["manifests"][0]["statusFeedback"]["values"];
  CHECK(values[1] ==
        Json{{"name", "usage/spot/cpu"}, {"fieldValue", {{"type", "String"}, {"string", "6"}}}});
}

TEST_CASE("a cluster that is not heard of is Unknown, and comes back") {
  MachineStage stage;
  const ScheduledFault silence = first(FaultKind::go_silent);
  const auto available = [&] {
    const auto cluster = stage.hub_api.get(kManagedClusters + "/" + silence.cluster);
    return (*cluster)["status"]["conditions"][2]["status"].get<std::string>();
  };
  stage.play_to(Duration{silence.at.ns + minutes(5).ns});
  CHECK(available() == "Unknown");
  stage.play_to(first(FaultKind::come_back).at);
  CHECK(available() == "True");
}

TEST_CASE("a guest joins and leaves, and a deletion from outside does not stop the fleet") {
  MachineStage stage;
  REQUIRE(stage.hub_api.remove(kQueues + "/" + std::string(kHighQueue)).has_value());
  stage.play_to(Duration{first(FaultKind::join).at.ns + seconds(2).ns});
  CHECK(stage.hub_api.get(kManagedClusters + "/cluster4").has_value());
  stage.play_to(kRoundLength);
  CHECK_FALSE(stage.hub_api.get(kManagedClusters + "/cluster4").has_value());
  CHECK(stage.said("not possible"));
}
