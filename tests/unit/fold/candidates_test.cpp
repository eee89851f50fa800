// Which clusters a Workload with devices may go to, and which of them is best: docs/devices.md.
#include "engine/fold/dispatch/candidates.h"

#include <catch2/catch.hpp>

#include "engine/fold/dispatch/reservations.h"
#include "tests/support/edit_workload.h"
#include "tests/unit/fold/device_world.h"

namespace fairlead::candidates_test {
namespace {

using Names = std::vector<std::string>;
const NamespacedName kId{"team", "w"};

// A list of three workers: c1 has three devices, c2 one and c3 five. Workload w wants one.
struct Fleet : DeviceWorld {
  WorkerList list;
  WorkloadRecord& record = workload("w");

  Fleet() {
    has_devices("c1", "n1", {"a0", "a1", "a2"});
    has_devices("c2", "n2", {"b0"});
    has_devices("c3", "n3", {"c0", "c1", "c2", "c3", "c4"});
    for (const char* cluster : {"c1", "c2", "c3"}) {
      list.names.push_back(std::string("gpu-") + cluster);
      Worker& worker = list.workers[list.names.back()];
      worker.cluster = cluster;
      worker.selected = true;
    }
    update_indexes();
    end_moment();
  }
  // The configuration changes: answers of before say nothing.
  void follows(DraPolicy policy) {
    state.configuration.dra.policy = policy;
    state.searches.all_dirty = true;
    update_indexes();
  }
  std::string best(const Choices& among = {}) {
    Chooser chooser(state);
    const auto found = chooser.best(kId, record, list, among);
    return found ? found->cluster : "";
  }
  Names ranked(const std::string& but = "") {
    Names clusters;
    for (const Destination& one : Chooser(state).ranked(kId, record, list, but))
      clusters.push_back(one.cluster);
    return clusters;
  }
  bool only(const std::string& worker) {
    return Chooser(state).only(kId, record, list, worker).has_value();
  }
  Obstacle obstacle(const std::string& worker) const {
    return obstacle_of(state.clusters, list, worker, record.devices());
  }
};

TEST_CASE("candidates: what keeps a worker from being one, the first that applies") {
  Fleet fleet;
  CHECK(fleet.obstacle("gpu-c1") == Obstacle::none);
  fleet.record.edit_devices().spent["gpu-c1"] = "c1";
  CHECK(fleet.obstacle("gpu-c1") == Obstacle::spent);
  fleet.state.clusters["c1"].device_capacity.stream = Liveness::stale;
  CHECK(fleet.obstacle("gpu-c1") == Obstacle::not_reachable);
  fleet.state.clusters["c1"].pool.member = false;
  CHECK(fleet.obstacle("gpu-c1") == Obstacle::not_watched);
  fleet.list.workers["gpu-c1"].selected = false;
  CHECK(fleet.obstacle("gpu-c1") == Obstacle::leaving);
  CHECK(fleet.obstacle("none") == Obstacle::leaving);
  CHECK(obstacle_at(fleet.state.clusters, "c1", "gpu-c1", {}) == Obstacle::not_watched);
  CHECK(obstacle_at(fleet.state.clusters, "none", "gpu-none", {}) == Obstacle::not_watched);
  CHECK(fleet.best() == "c2");
}

TEST_CASE("candidates: the policy decides between the clusters where the pods fit") {
  Fleet fleet;
  CHECK(fleet.best() == "c1");
  CHECK(fleet.ranked() == Names{"c1", "c2", "c3"});
  fleet.follows(DraPolicy::pack);  // the fewest free devices are left
  CHECK(fleet.best() == "c2");
  CHECK(fleet.ranked() == Names{"c2", "c1", "c3"});
  fleet.follows(DraPolicy::spread);
  CHECK(fleet.best() == "c3");
  CHECK(fleet.ranked() == Names{"c3", "c1", "c2"});
  fleet.publishes("c1", "n1", {"a0", "a1", "a2", "a3", "a4"});
  fleet.update_indexes();
  CHECK(fleet.best() == "c1");  // of equal ones the first of the list
}

TEST_CASE("candidates: a cluster with a better alternative precedes, whatever the policy") {
  Fleet fleet;
  ResourceClaimTemplateFacts one = DeviceWorld::one_gpu();
  DeviceRequest& request = one.spec.requests[0];
  request.alternatives = true;
  request.asks = {request.asks[0], request.asks[0]};
  request.asks[0].name = "fast";
  request.asks[0].device_class = "fast";
  request.asks[1].name = "any";
  for (const char* cluster : {"c1", "c2", "c3"}) {
    DeviceClassFacts fast;
    const std::string driver = std::string(cluster) == "c2" ? DeviceWorld::kDriver : "another";
    fast.selectors.push_back({"device.driver == \"" + driver + "\""});
    fleet.sees(cluster, {Kind::device_class, "", "fast"}, fast);
    fleet.sees(cluster, {Kind::resource_claim_template, "team", "one"}, one);
  }
  fleet.update_indexes();
  for (const DraPolicy policy : {DraPolicy::order, DraPolicy::pack, DraPolicy::spread}) {
    fleet.follows(policy);
    CHECK(fleet.best() == "c2");
    CHECK(fleet.ranked().at(0) == "c2");
  }
}

TEST_CASE("candidates: a choice is among the clusters in question, without the worker it leaves") {
  Fleet fleet;
  const std::set<std::string> two = {"c2", "c3"};
  CHECK(fleet.best({&two, ""}) == "c2");
  CHECK(fleet.best({&two, "gpu-c2"}) == "c3");
  CHECK(fleet.best({nullptr, "gpu-c1"}) == "c2");
  CHECK(fleet.ranked("gpu-c1") == Names{"c2", "c3"});
  const std::set<std::string> none;
  CHECK(fleet.best({&none, ""}).empty());
}

TEST_CASE("candidates: a cluster where the pods do not fit is none") {
  Fleet fleet;
  edit(fleet.record.seen)->facts.pod_sets[0].count = 4;
  CHECK(fleet.best() == "c3");
  CHECK(fleet.ranked() == Names{"c3"});
  CHECK_FALSE(fleet.only("gpu-c1"));
  CHECK(fleet.only("gpu-c3"));
}

TEST_CASE("candidates: one worker alone is a candidate as long as it is in the list") {
  Fleet fleet;
  CHECK(fleet.only("gpu-c1"));
  fleet.list.workers["gpu-c1"].selected = false;  // a leaver may keep what it has
  CHECK(fleet.only("gpu-c1"));
  fleet.record.edit_devices().spent["gpu-c1"] = "c1";
  CHECK_FALSE(fleet.only("gpu-c1"));
  fleet.list.names = {"gpu-c1", "gpu-c3"};
  CHECK_FALSE(fleet.only("gpu-c2"));
}

TEST_CASE("candidates: Workloads that ask alike search once, until something changes there") {
  Fleet fleet;
  REQUIRE(fleet.best() == "c1");
  const std::int64_t steps = search_index(fleet.state, "c1").steps;
  WorkloadRecord& other = fleet.workload("v");
  Chooser chooser(fleet.state);
  const auto found = chooser.best({"team", "v"}, other, fleet.list, {});
  REQUIRE(found);
  CHECK(DeviceWorld::devices_of(found->pods) == Names{"a0"});
  CHECK(search_index(fleet.state, "c1").steps == steps);
  DeviceReservation made;
  made.worker = found->worker;
  made.cluster = found->cluster;
  made.pods = found->pods;
  reserve(fleet.state, {"team", "v"}, other, made);
  const auto next = chooser.best(kId, fleet.record, fleet.list, {});
  REQUIRE(next);
  CHECK(DeviceWorld::devices_of(next->pods) == Names{"a1"});
  CHECK(search_index(fleet.state, "c1").steps > steps);
}

}  // namespace
}  // namespace fairlead::candidates_test
