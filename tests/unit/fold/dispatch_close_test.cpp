// The order within a moment of the dispatch by devices: engine/fold/dispatch/dispatch_close.cpp,
// and docs/decisions/0043-pods-and-workloads-reserve-in-one-index.md.
#include "engine/fold/dispatch/dispatch_close.h"

#include <catch2/catch.hpp>

#include "engine/fold/multikueue/names.h"
#include "engine/fold/multikueue/nominations.h"
#include "tests/support/edit_workload.h"
#include "tests/unit/fold/device_world.h"

namespace fairlead::dispatch_close_test {
namespace {

// Workers c1 and c2 with one device each, in the list of Placement gpu.
struct Fleet : DeviceWorld {
  MultiKueue& all = state.multikueue;
  WorkerList& list = all.lists["gpu"];

  Fleet() {
    state.configuration.multikueue.cleared_by = ClearedBy::merge_patch;
    state.configuration.dra.admit_timeout = seconds(300);
    state.configuration.dra.place_timeout = seconds(300);
    CheckRecord& check = all.checks["mk"];
    check.ours = check.good = true;
    check.placement = "gpu";
    check.seen.facts.controller_name = kPlacementController;
    list.use = ListUse::live;
    list.windows.move_window = seconds(120);
    has_devices("c1", "n1", {"d0"});
    has_devices("c2", "n2", {"e0"});
    joins("c1");
  }
  void at(std::int64_t second) { state.now = LogTime{} + seconds(second); }
  void joins(const std::string& cluster) {
    list.names.push_back("gpu-" + cluster);
    Worker& worker = list.workers["gpu-" + cluster];
    worker.cluster = cluster;
    worker.selected = worker.listed = true;
  }
  // A Workload that waits for a cluster, or as it was observed last.
  WorkloadEdit waits(const std::string& name) {
    const bool known = all.workloads.contains({"team", name});
    WorkloadRecord& record = known ? all.workloads.at({"team", name}) : workload(name);
    edit(record.seen)->facts.checks = {{"mk", "Ready"}};
    edit(record.seen)->facts.quota_reserved = true;
    all.dirty_workloads.insert({"team", name});
    return edit(record.seen);
  }
  void close() {
    update_indexes();
    for (const NamespacedName& id : std::set<NamespacedName>(all.dirty_workloads))
      recompute_nomination(state, id);
    recompute_dispatch(state);
    all.dirty_workloads.clear();
    end_moment();
  }
  const DeviceDispatch& of(const std::string& name) {
    return all.workloads.at({"team", name}).devices();
  }
  // Where it is reserved; empty: it waits.
  std::string cluster(const std::string& name) {
    return of(name).reservation ? of(name).reservation->cluster : "";
  }
  std::vector<std::string> nomination(const std::string& name) {
    return all.workloads.at({"team", name}).decision->nomination;
  }
  LogTime deadline() const {
    const auto found = state.deadlines.all().find(DispatchDeadline{});
    return found == state.deadlines.all().end() ? kForever : found->second;
  }
};

TEST_CASE("dispatch: the higher priority is placed first, then the older, then by name") {
  Fleet fleet;
  for (const char* name : {"a", "b", "c"})
    fleet.waits(name)->facts.created = LogTime{} + seconds(10);
  SECTION("by name") {
    fleet.close();
    CHECK(fleet.cluster("a") == "c1");
  }
  SECTION("the older") {
    fleet.waits("b")->facts.created = LogTime{} + seconds(9);
    fleet.close();
    CHECK(fleet.cluster("b") == "c1");
  }
  SECTION("the higher priority") {
    fleet.waits("b")->facts.created = LogTime{} + seconds(9);
    fleet.waits("c")->facts.priority = 1;
    fleet.close();
    CHECK(fleet.cluster("c") == "c1");
    CHECK(fleet.nomination("c") == std::vector<std::string>{"gpu-c1"});
    CHECK(fleet.of("c").verdict == DeviceVerdict::reserved);
    CHECK(fleet.of("b").verdict == DeviceVerdict::no_cluster);
    CHECK(fleet.nomination("b").empty());
  }
  CHECK(fleet.state.dispatch.reserved_on["c1"].size() == 1);
}

TEST_CASE("dispatch: what ends frees its devices for the next in the same moment") {
  Fleet fleet;
  fleet.waits("a");
  fleet.close();
  fleet.waits("b");
  fleet.close();
  REQUIRE(fleet.cluster("a") == "c1");
  REQUIRE(fleet.cluster("b").empty());
  SECTION("it is finished") { fleet.waits("a")->facts.finished = true; }
  SECTION("it is evicted") { fleet.waits("a")->facts.evicted = true; }
  SECTION("it lost its quota") { fleet.waits("a")->facts.quota_reserved = false; }
  SECTION("another writer sent it elsewhere") { fleet.waits("a")->facts.cluster_name = "gpu-c2"; }
  fleet.close();
  CHECK(fleet.cluster("a").empty());
  CHECK(fleet.cluster("b") == "c1");
}

TEST_CASE("dispatch: a broken reservation is mended before a new one is made") {
  Fleet fleet;
  fleet.waits("a");
  fleet.close();
  fleet.publishes("c1", "n1", {});
  fleet.close();
  REQUIRE(fleet.of("a").reservation->broken_since == fleet.state.now);
  fleet.waits("b")->facts.priority = 9;
  fleet.publishes("c1", "n1", {"d7"});
  fleet.close();
  CHECK_FALSE(fleet.of("a").reservation->broken_since);
  CHECK(DeviceWorld::devices_of(fleet.of("a").reservation->pods) == std::vector<std::string>{"d7"});
  CHECK(fleet.cluster("b").empty());
}

TEST_CASE("dispatch: one that is broken for moveWindow moves, and what it frees is given at once") {
  Fleet fleet;
  fleet.state.configuration.dra.admit_timeout = {};
  fleet.publishes("c1", "n1", {"d0", "d1"});
  fleet.waits("a")->facts.pod_sets[0].count = 2;
  fleet.close();
  fleet.publishes("c1", "n1", {"d0"});
  fleet.publishes("c2", "n2", {"e0", "e1"});
  fleet.close();
  REQUIRE(fleet.of("a").reservation->broken_since == LogTime{} + seconds(1000));
  fleet.waits("b");  // wants d0, which the broken one keeps
  fleet.close();
  CHECK(fleet.cluster("b").empty());
  CHECK(fleet.deadline() == LogTime{} + seconds(1120));
  fleet.joins("c2");
  fleet.at(1120);
  fleet.close();
  CHECK(fleet.cluster("a") == "c2");
  CHECK(fleet.of("a").spent.empty());  // that is only for one which is not admitted in time
  CHECK(fleet.cluster("b") == "c1");
}

TEST_CASE("dispatch: a nomination that is not admitted moves, and its cluster is spent") {
  Fleet fleet;
  fleet.joins("c2");
  fleet.waits("a");
  fleet.close();
  REQUIRE(fleet.cluster("a") == "c1");
  CHECK(fleet.deadline() == LogTime{} + seconds(1300));
  fleet.at(1300);
  fleet.close();
  CHECK(fleet.cluster("a") == "c2");
  CHECK(fleet.of("a").spent == std::map<std::string, std::string>{{"gpu-c1", "c1"}});
  fleet.at(1600);
  fleet.close();
  CHECK(fleet.cluster("a") == "c2");    // there is no other
  fleet.publishes("c1", "n1", {"d0"});  // it is heard of again
  fleet.close();
  CHECK(fleet.cluster("a") == "c1");
}

TEST_CASE("dispatch: a placed Workload keeps its reservation until placeTimeout") {
  Fleet fleet;
  fleet.waits("a");
  fleet.close();
  fleet.at(1010);
  fleet.waits("a")->facts.cluster_name = "gpu-c1";
  fleet.close();
  CHECK(fleet.of("a").reservation->placed_since == fleet.state.now);
  CHECK(fleet.deadline() == LogTime{} + seconds(1310));
  fleet.at(1309);
  fleet.close();
  CHECK_FALSE(fleet.of("a").reservation->pods.empty());
  fleet.at(1310);
  fleet.close();
  REQUIRE(fleet.of("a").reservation);
  CHECK(fleet.of("a").reservation->pods.empty());
  CHECK(fleet.deadline() == kForever);
}

TEST_CASE("dispatch: one that another writer placed has nothing reserved") {
  Fleet fleet;
  fleet.publishes("c1", "n1", {});
  fleet.waits("a");
  fleet.close();
  REQUIRE(fleet.of("a").verdict == DeviceVerdict::no_cluster);
  fleet.waits("a")->facts.cluster_name = "gpu-c1";
  fleet.close();
  CHECK(fleet.of("a").verdict == DeviceVerdict::bypassed);
  CHECK(fleet.cluster("a").empty());
  CHECK(fleet.nomination("a").empty());
}

TEST_CASE("dispatch: a Workload that was nominated before it was first observed stays there") {
  Fleet fleet;
  fleet.joins("c2");
  fleet.waits("a")->facts.nominated_clusters = {"gpu-c2"};
  SECTION("where it fits") {
    fleet.close();
    CHECK(fleet.cluster("a") == "c2");
  }
  SECTION("else it goes where it does") {
    fleet.publishes("c2", "n2", {});
    fleet.close();
    CHECK(fleet.cluster("a") == "c1");
  }
}

TEST_CASE("dispatch: where it is switched off, what was decided ends") {
  Fleet fleet;
  fleet.waits("a");
  fleet.close();
  REQUIRE(fleet.cluster("a") == "c1");
  REQUIRE(fleet.deadline() != kForever);
  fleet.state.configuration.dra.dispatch = false;
  fleet.all.dirty_workloads.insert({"team", "a"});
  fleet.close();
  CHECK(fleet.cluster("a").empty());
  CHECK(fleet.state.dispatch == Dispatch{});
  CHECK(fleet.deadline() == kForever);
}

}  // namespace
}  // namespace fairlead::dispatch_close_test
