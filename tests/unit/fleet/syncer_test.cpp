// The syncer of one super cluster on two API models; the test writes what Fairlead would write.
#include "engine/fleet/syncer.h"

#include "tests/unit/fleet/stage.h"

using namespace fairlead;

namespace {

struct SyncerStage {
  SyncerStage() : api(*tenant, "test"), super_api(*super, "test") {
    for (MachineLayout& machine : super_cluster_machines("r1"))
      machines.push_back({std::move(machine)});
    REQUIRE(api.create(kNamespaces, namespace_object("web").object).has_value());
  }

  void play(Duration span) {
    for (Duration passed{0}; passed < span; passed = {passed.ns + seconds(1).ns}) {
      clock.time = clock.time + seconds(1);
      syncer.look(clock.time, machines);
    }
  }
  void list(const Json& placements) {
    REQUIRE(api.merge(kNamespaces + "/web",
                      {{"metadata", {{"annotations", {{kPlacementsKey, placements}}}}}})
                .has_value());
  }
  void create_pod(const std::string& name, const char* cluster, const char* cpu = "1500m") {
    PoolApp app = web;
    app.each.cpu = cpu;
    WorldObject pod = app_pod(app, name);
    pod.object["metadata"]["annotations"] = {{kSuperClusterKey, cluster}};
    REQUIRE(api.create(pod.collection, pod.object).has_value());
  }
  std::string node(const std::string& pod) const {
    const auto seen = api.get(pods_of("web") + "/" + pod);
    return seen ? node_of(*seen) : "gone";
  }
  bool has(const std::string& path) const { return super_api.get(path).has_value(); }

  const PoolApp web{"acme", "web", 12, {"1500m", "2Gi"}, 3};
  SetClock clock;
  std::unique_ptr<model::SharedModel> tenant = serve(clock), super = serve(clock);
  Api api, super_api;
  std::vector<Machine> machines;
  std::vector<std::string> lines;
  Syncer syncer{"r1",
                *super,
                {{"acme", tenant.get()}},
                [this](std::string_view who, const std::string& what) {
                  lines.push_back(std::string(who) + " " + what);
                }};
};

const std::string kHere = kNamespaces + "/acme-web";

}  // namespace

TEST_CASE("a namespace that lists the cluster is made there, also with 0") {
  SyncerStage stage;
  stage.play(seconds(3));
  CHECK_FALSE(stage.has(kHere));
  stage.list(R"({"r1":0,"r2":3})");
  stage.play(seconds(3));
  const auto made = stage.super_api.get(kHere);
  REQUIRE(made.has_value());
  const auto origin = stage.api.get(kNamespaces + "/web");
  CHECK(annotation_of(*made, kTenantKey) == "acme");
  CHECK(annotation_of(*made, kTenantNamespaceKey) == "web");
  CHECK(annotation_of(*made, kTenantUidKey) == (*origin)["metadata"]["uid"].get<std::string>());
  CHECK(annotation_of(*made, kPlacementsKey) == R"({"r1":0,"r2":3})");
  stage.list(R"({"r1":4})");
  stage.play(seconds(3));
  CHECK(annotation_of(*stage.super_api.get(kHere), kPlacementsKey) == R"({"r1":4})");
}

TEST_CASE("what cannot be read lists no cluster") {
  for (const char* text : {"{}", "nonsense", "[\"r1\"]", R"({"r1":"3"})", R"({"r1":1.5})", ""}) {
    SyncerStage stage;
    stage.list(text);
    stage.play(seconds(3));
    CHECK_FALSE(stage.has(kHere));
  }
}

TEST_CASE("a pod runs on a node that has room, and only where its namespace lists the cluster") {
  SyncerStage stage;
  stage.create_pod("a", "r1");
  stage.create_pod("b", "r2");
  stage.play(seconds(3));
  CHECK(stage.node("a").empty());
  stage.list(R"({"r1":4,"r2":1})");
  stage.play(seconds(3));
  CHECK(stage.node("a") == "r1-1");
  CHECK(stage.node("b").empty());
  CHECK(stage.has(kHere + "/pods/a"));
  CHECK((*stage.api.get(pods_of("web") + "/a"))["status"]["phase"] == "Running");
  stage.create_pod("c", "r1", "7");
  stage.create_pod("d", "r1", "9");
  stage.play(seconds(3));
  CHECK(stage.node("c") == "r1-2");
  CHECK(stage.node("d").empty());
  stage.create_pod("e", "r1", "1");
  stage.play(seconds(3));
  CHECK(stage.node("e") == "r1-3");
}

TEST_CASE("a namespace is removed with its pods some time after the id left the list") {
  SyncerStage stage;
  stage.list(R"({"r1":4})");
  stage.create_pod("a", "r1");
  stage.play(seconds(3));
  stage.list(R"({"r2":4})");
  stage.play(seconds(30));
  CHECK(stage.node("a") == "r1-1");
  stage.list(R"({"r1":0,"r2":4})");
  stage.play(seconds(60));
  CHECK(stage.node("a") == "r1-1");
  stage.list(R"({"r2":4})");
  stage.play(seconds(50));
  CHECK_FALSE(stage.has(kHere));
  CHECK(stage.node("a") == "gone");
  CHECK(stage.lines.size() == 4);  // made, runs, removed, ended
}

TEST_CASE("the pods of a node that is down for long end in their tenant too") {
  SyncerStage stage;
  stage.list(R"({"r1":4})");
  stage.create_pod("a", "r1");
  stage.play(seconds(3));
  stage.machines[0].down = true;
  stage.play(seconds(20));
  stage.machines[0].down = false;
  stage.play(seconds(60));
  CHECK(stage.node("a") == "r1-1");
  stage.machines[0].down = true;
  stage.play(seconds(50));
  CHECK(stage.node("a") == "gone");
  CHECK_FALSE(stage.has(kHere + "/pods/a"));
}

TEST_CASE("a pod that its tenant deletes ends, and its namesake runs anew") {
  SyncerStage stage;
  stage.list(R"({"r1":4})");
  stage.create_pod("a", "r1");
  stage.play(seconds(3));
  REQUIRE(stage.api.remove(pods_of("web") + "/a").has_value());
  stage.play(seconds(3));
  CHECK_FALSE(stage.has(kHere + "/pods/a"));
  stage.create_pod("a", "r1");
  stage.play(seconds(3));
  REQUIRE(stage.api.remove(pods_of("web") + "/a").has_value());
  stage.create_pod("a", "r1");
  stage.play(seconds(5));
  CHECK(stage.node("a") == "r1-1");
  CHECK(stage.has(kHere + "/pods/a"));
}

TEST_CASE("where nothing changes the syncer writes nothing") {
  SyncerStage stage;
  stage.list(R"({"r1":4})");
  stage.create_pod("a", "r1");
  stage.play(seconds(5));
  const std::uint64_t writes = stage.syncer.writes();
  const std::uint64_t revision = stage.super_api.revision();
  stage.play(minutes(2));
  CHECK(stage.syncer.writes() == writes);
  CHECK(stage.super_api.revision() == revision);
}
