// The pool's fleet on models of its own; the test decides what Fairlead would decide.
#include "engine/fleet/pool_fleet.h"

#include "tests/unit/fleet/stage.h"

using namespace fairlead;

namespace {

// A Fairlead without sense: each namespace lists one cluster, and each pod gets it.
struct PoolStage {
  PoolStage() {
    for (const std::string& name : pool_tenants()) add(name);
    for (const std::string& name : super_clusters()) add(name);
    std::map<std::string, model::SharedModel*> servers;
    for (const auto& [name, server] : models) servers[name] = server.get();
    fleet = std::make_unique<PoolFleet>(*hub, servers, 7, kStart,
                                        [this](std::string_view who, const std::string& what) {
                                          lines.push_back(std::string(who) + " " + what);
                                        });
    REQUIRE(fleet->begin().has_value());
  }

  void add(const std::string& name) { models[name] = serve(clock); }
  Api api(const std::string& name) { return {*models.at(name), "test"}; }
  void play_to(Duration at) {
    while (clock.time < kStart + at) {
      clock.time = clock.time + seconds(1);
      fleet->advance(clock.time);
      // Lists cost the most here, by far: the hub is played at a slower pace than the fleet.
      if (++ticks % 5 == 0)
        for (const PoolApp& app : pool_apps()) decide(app);
    }
  }
  void decide(const PoolApp& app) {
    const Api tenant = api(app.tenant);
    const Json list = {
        {"metadata", {{"annotations", {{kPlacementsKey, "{\"" + cluster + "\":4}"}}}}}};
    if (tenant.get(kNamespaces + "/" + app.name))
      REQUIRE(tenant.merge(kNamespaces + "/" + app.name, list).has_value());
    for (const Json& pod : tenant.items(pods_of(app.name))) {
      if (!annotation_of(pod, kSuperClusterKey).empty()) continue;
      const std::string name = pod["metadata"]["name"];
      REQUIRE(tenant
                  .merge(pods_of(app.name) + "/" + name,
                         {{"metadata", {{"annotations", {{kSuperClusterKey, cluster}}}}}})
                  .has_value());
    }
  }
  std::size_t running(const PoolApp& app) {
    std::size_t count = 0;
    for (const Json& pod : api(app.tenant).items(pods_of(app.name)))
      if (!node_of(pod).empty()) ++count;
    return count;
  }
  static Duration after(PoolFaultKind kind, Duration more) {
    for (const PoolFault& fault : pool_script_of_round(7, 0))
      if (fault.kind == kind) return {fault.at.ns + more.ns};
    FAIL("the script has none");
    return {};
  }
  bool said(const std::string& words) const {
    for (const std::string& line : lines)
      if (line.find(words) != std::string::npos) return true;
    return false;
  }
  std::string available(const std::string& name) {
    const Api hub_api(*hub, "test");
    const auto seen = hub_api.get(kManagedClusters + "/" + name);
    REQUIRE(seen.has_value());
    return seen->value("/status/conditions/2/status"_json_pointer, "");
  }

  SetClock clock;
  std::unique_ptr<model::SharedModel> hub = serve(clock);
  std::map<std::string, std::unique_ptr<model::SharedModel>> models;
  std::string cluster = "r3";
  std::vector<std::string> lines;
  int ticks = 0;
  std::unique_ptr<PoolFleet> fleet;
};

}  // namespace

TEST_CASE("the hub learns of each tenant how it is reached, and of each super cluster its id") {
  PoolStage stage;
  const Api hub(*stage.hub, "test");
  for (const std::string& tenant : pool_tenants()) {
    const auto cluster = hub.get(kVirtualClusters + "/" + tenant);
    REQUIRE(cluster.has_value());
    CHECK((*cluster)["status"]["phase"] == "Running");
    CHECK((*cluster)["status"]["clusterNamespace"] == tenant);
    const auto secret = hub.get(kNamespaces + "/" + tenant + "/secrets/admin-kubeconfig");
    REQUIRE(secret.has_value());
    CHECK((*secret)["data"].contains("admin-kubeconfig"));
  }
  for (const std::string& name : super_clusters()) {
    const auto info =
        stage.api(name).get(kNamespaces + "/kube-system/configmaps/supercluster-info");
    REQUIRE(info.has_value());
    CHECK((*info)["data"]["id"] == name);
    CHECK(stage.api(name).items(kNodes).size() == 3);
  }
}

TEST_CASE("every app has the pods that its tenant wants, at the end of a round as well") {
  PoolStage stage;
  stage.play_to(minutes(4));
  for (const PoolApp& app : pool_apps())
    CHECK(stage.running(app) == static_cast<std::size_t>(app.replicas));
  stage.play_to(kPoolRoundLength);
  for (const PoolApp& app : pool_apps())
    CHECK(stage.running(app) == static_cast<std::size_t>(app.replicas));
  CHECK_FALSE(stage.said("not possible"));
}

TEST_CASE("a node that dies takes its pods with it, and their tenants make others") {
  PoolStage stage;
  stage.cluster = "r1";
  const auto script = pool_script_of_round(7, 0);
  // The third stop: a node flaps twice before.
  std::vector<PoolFault> stops;
  for (const PoolFault& fault : script)
    if (fault.kind == PoolFaultKind::stop) stops.push_back(fault);
  REQUIRE(stops.size() == 3);
  stage.play_to({stops[2].at.ns + minutes(2).ns});
  for (const PoolApp& app : pool_apps())
    for (const Json& pod : stage.api(app.tenant).items(pods_of(app.name)))
      CHECK(node_of(pod) != stops[2].value);
  const auto node = stage.api("r1").get(kNodes + "/" + stops[2].value);
  CHECK((*node)["status"]["conditions"][0]["status"] == "Unknown");
}

TEST_CASE("a cluster that is silent runs no new pod until it is back") {
  PoolStage stage;
  stage.cluster = "r1";
  stage.play_to(stage.after(PoolFaultKind::go_silent, minutes(4)));
  CHECK(stage.available("r1") == "Unknown");
  CHECK(stage.running({"acme", "batch", 0, {}, 0}) == 0);  // replaced meanwhile
  stage.play_to(stage.after(PoolFaultKind::come_back, seconds(10)));
  CHECK(stage.available("r1") == "True");
  CHECK(stage.running({"acme", "batch", 0, {}, 0}) == 2);
}

TEST_CASE("a drain is a setting of the hub, and ends") {
  PoolStage stage;
  CHECK(stage.fleet->settings().empty());
  stage.play_to(stage.after(PoolFaultKind::drain, seconds(5)));
  CHECK(stage.fleet->settings() ==
        std::vector<std::string>{R"(pool.clusters=[{cluster: r2, drain: true}, {cluster: "*"}])"});
  stage.play_to(stage.after(PoolFaultKind::undrain, seconds(5)));
  CHECK(stage.fleet->settings().empty());
}

TEST_CASE("a deletion from outside does not stop the pool's fleet") {
  PoolStage stage;
  REQUIRE(stage.api("acme").remove(kNamespaces + "/web").has_value());
  REQUIRE(stage.api("r1").remove(kNodes + "/r1-1").has_value());
  stage.play_to(kPoolRoundLength);
  CHECK(stage.said("not possible"));
  CHECK(stage.running({"bolt", "db", 0, {}, 0}) == 2);
}
