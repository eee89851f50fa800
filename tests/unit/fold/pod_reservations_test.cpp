// Devices that are reserved for tenants' pods: from when to when, and what takes their place.
#include "engine/fold/pool/pod_reservations.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::pod_reservations {
namespace {

const PoolNamespaceKey kWeb = acme("web");
const PoolPodKey kPod = pod_in(kWeb, "a");
const std::string kTenant = "tenant/acme";

// A pod with entries that a template makes claims of.
PodFacts pod_with(const std::vector<std::string>& entries) {
  PodFacts facts = pod_asking(100, kGi);
  PodDeviceFacts& devices = facts.devices.emplace();
  for (const std::string& entry : entries) devices.claims.push_back({entry, "", "gpus"});
  return facts;
}

// acme/web has all of r1, whose only node has the GPUs.
struct GpuPool : PoolStage {
  explicit GpuPool(int gpus, const Configuration& configuration = undamped_pool())
      : PoolStage(configuration) {
    offer("r1", 4);
    publish(gpus);
    observe("r1", {Kind::device_class, "", "gpu"}, DeviceClassFacts{});
    tenant("acme");
    placed(kWeb, {{"r1", 4}});
    made_for(kWeb, "r1", R"({"r1":4})");
    ResourceClaimTemplateFacts made;
    made.spec.requests.resize(1);
    made.spec.requests[0].name = "r";
    made.spec.requests[0].asks.resize(1);
    made.spec.requests[0].asks[0].device_class = "gpu";
    observe(kTenant, {Kind::resource_claim_template, "web", "gpus"}, made);
    run();
  }
  // The pool has so many GPUs, of which those in `tainted` take no pod.
  void publish(int gpus, const std::set<int>& tainted = {}) {
    ResourceSliceFacts slice;
    slice.driver = slice.pool = "gpu";
    slice.generation = ++generation_;
    slice.slice_count = 1;
    slice.reach = {NodeReachKind::node, "n1", {}};
    for (int i = 0; i < gpus; ++i) {
      DeviceFacts device{"gpu-" + std::to_string(i), {}, {}, {}};
      if (tainted.contains(i)) device.extras.emplace().taints = {{"bad", "", "NoSchedule"}};
      slice.devices.push_back(std::move(device));
    }
    observe("r1", {Kind::resource_slice, "", "s"}, std::move(slice));
  }
  // The syncer's Pod for acme/web/a, and the claim of one of its entries once it is allocated.
  void synced_pod() {
    PodFacts facts;
    facts.set_origin({"", "", "web/a"});
    observe("r1", {Kind::pod, "acme-web", "a"}, facts, "a-in-r1");
  }
  void allocate(const std::string& name, const std::string& entry, const std::string& device,
                const std::string& owner = "a-in-r1") {
    ResourceClaimFacts claim;
    claim.pod_claim = entry;
    claim.pod_owners = {owner};
    claim.allocation.emplace().devices.push_back({"r", "gpu", "gpu", device, false, "", {}});
    observe("r1", {Kind::resource_claim, "acme-web", name}, claim);
  }
  const Boxed<DeviceReservation>& reserved(const std::string& name = "a") {
    return pod_of(kWeb, name).reserved;
  }
  // The devices that are reserved for the pod, by entry.
  std::map<std::string, std::string> devices(const std::string& name = "a") {
    std::map<std::string, std::string> all;
    if (reserved(name))
      for (const FitPod& solved : reserved(name)->pods)
        for (const FitClaim& claim : solved.claims)
          all[claim.entry] = claim.devices.at(0).device.device;
    return all;
  }

 private:
  std::int64_t generation_ = 0;
};
using Devices = std::map<std::string, std::string>;

TEST_CASE(
    "pod reservations: a decision reserves, and dra.placeTimeout drops what no claim replaced") {
  GpuPool stage(1);
  stage.at(10);
  stage.pod(kWeb, "a", pod_with({"g"}));
  const Seq asked = stage.state.seq;
  stage.pod(kWeb, "b", pod_with({"g"}));
  stage.run();
  REQUIRE(stage.reserved());
  CHECK(std::count(stage.reserved()->causes.begin(), stage.reserved()->causes.end(), asked) == 1);
  CHECK(stage.reserved()->worker == "r1");
  CHECK(stage.reserved()->cluster == "r1");
  CHECK(stage.reserved()->since == second(10));
  CHECK(stage.devices() == Devices{{"g", "gpu-0"}});
  CHECK(stage.pool().reserved_on.at("r1") == std::set{kPod});
  CHECK(stage.pool().device_due == std::set{std::pair{second(310), kPod}});
  stage.at(309);
  stage.run();
  CHECK(stage.pod_of(kWeb, "b").cluster.empty());
  stage.at(310);
  stage.run();
  CHECK_FALSE(stage.reserved());
  CHECK(stage.pod_of(kWeb, "a").cluster == "r1");  // it stays where it is
  CHECK(stage.devices("b") == Devices{{"g", "gpu-0"}});
}

TEST_CASE(
    "pod reservations: with a placeTimeout of 0 they are kept, another one counts from since") {
  Configuration configuration = undamped_pool();
  configuration.dra.place_timeout = {};
  GpuPool stage(1, configuration);
  stage.at(10);
  stage.pod(kWeb, "a", pod_with({"g"}));
  stage.run();
  CHECK(stage.pool().device_due.empty());
  configuration.dra.place_timeout = seconds(90);
  stage.at(50);
  stage.configure(configuration);
  stage.close();
  CHECK(stage.pool().device_due == std::set{std::pair{second(100), kPod}});
  configuration.dra.place_timeout = seconds(30);
  stage.configure(configuration);
  stage.close();
  CHECK_FALSE(stage.reserved());
}

TEST_CASE("pod reservations: one ends with its pod, or when the pod is sent elsewhere") {
  PodFacts over = pod_with({"g"}), elsewhere = over;
  over.super_cluster = "r1";
  over.over = true;
  elsewhere.super_cluster = "r9";
  for (const std::optional<PodFacts>& change :
       {std::optional(over), std::optional(elsewhere), std::optional<PodFacts>()}) {
    GpuPool stage(1);
    stage.pod(kWeb, "a", pod_with({"g"}));
    stage.run();
    REQUIRE(stage.reserved());
    stage.pod(kWeb, "b", pod_with({"g"}));
    stage.run();
    CHECK(stage.pod_of(kWeb, "b").cluster.empty());
    stage.at(1);  // b has waited for longer than a will
    if (change)
      stage.pod(kWeb, "a", *change);
    else
      stage.gone(kTenant, {Kind::pod, "web", "a"});
    CHECK(stage.pool().reserved_on.empty());
    CHECK(stage.pool().device_due.empty());
    stage.close();
    CHECK(stage.pod_of(kWeb, "b").cluster == "r1");
    CHECK(stage.devices("b") == Devices{{"g", "gpu-0"}});
  }
}

TEST_CASE("pod reservations: an allocated claim of the pod takes the place of its entry alone") {
  GpuPool stage(5);
  stage.pod(kWeb, "a", pod_with({"g", "h"}));
  stage.run();
  CHECK(stage.devices() == Devices{{"g", "gpu-0"}, {"h", "gpu-1"}});
  stage.synced_pod();
  stage.allocate("other-g", "g", "gpu-3", "another pod");
  stage.allocate("a-x", "x", "gpu-4");
  stage.run();
  CHECK(stage.devices() == Devices{{"g", "gpu-0"}, {"h", "gpu-1"}});
  stage.allocate("a-g", "g", "gpu-2");  // another one than was reserved
  stage.run();
  CHECK(stage.devices() == Devices{{"h", "gpu-1"}});
  CHECK_FALSE(stage.pool().device_due.empty());
  stage.pod(kWeb, "b", pod_with({"g"}));
  stage.run();
  CHECK(stage.devices("b") == Devices{{"g", "gpu-0"}});
  stage.gone(kTenant, {Kind::pod, "web", "b"});
  stage.allocate("a-h", "h", "gpu-1");
  stage.run();
  CHECK_FALSE(stage.reserved());
  CHECK(stage.pool().device_due.empty());
}

TEST_CASE("pod reservations: a claim counts from when its Pod is known, if it is not before") {
  GpuPool stage(2);
  stage.pod(kWeb, "a", pod_with({"g"}));
  stage.run();
  stage.allocate("a-g", "g", "gpu-1");  // the scheduler took another one
  stage.run();
  CHECK(stage.devices() == Devices{{"g", "gpu-0"}});
  stage.synced_pod();
  stage.run();
  CHECK_FALSE(stage.reserved());
  stage.pod(kWeb, "b", pod_with({"g"}));
  stage.run();
  CHECK(stage.devices("b") == Devices{{"g", "gpu-0"}});
}

TEST_CASE("pod reservations: claims that the Pod had before the decision count at once") {
  GpuPool stage(2);
  stage.synced_pod();
  stage.allocate("a-g", "g", "gpu-1");
  stage.pod(kWeb, "a", pod_with({"g", "h"}));
  stage.pod(kWeb, "b", pod_with({"g"}));
  stage.run();
  CHECK(stage.pod_of(kWeb, "a").cluster.empty());  // it asks for two devices, of which one is free
  CHECK(stage.devices("b") == Devices{{"g", "gpu-0"}});
  stage.gone(kTenant, {Kind::pod, "web", "b"});
  stage.pod(kWeb, "a", pod_with({"g"}));
  stage.run();
  CHECK(stage.pod_of(kWeb, "a").cluster == "r1");
  CHECK_FALSE(stage.reserved());
}

TEST_CASE("pod reservations: a lost device is replaced, for the older reservation first") {
  GpuPool stage(3);
  stage.pod(kWeb, "b", pod_with({"g"}));
  stage.run();
  stage.at(10);
  stage.pod(kWeb, "a", pod_with({"g"}));
  stage.run();
  CHECK(stage.devices("b") == Devices{{"g", "gpu-0"}});
  CHECK(stage.devices("a") == Devices{{"g", "gpu-1"}});
  stage.at(20);
  stage.publish(3, {0, 1});
  stage.run();
  CHECK(stage.devices("b") == Devices{{"g", "gpu-2"}});
  CHECK_FALSE(stage.reserved("b")->broken_since);
  CHECK(stage.devices("a") == Devices{{"g", "gpu-1"}});  // it keeps what it cannot use
  CHECK(stage.reserved("a")->broken_since == second(20));
  stage.at(30);
  stage.gone(kTenant, {Kind::pod, "web", "b"});
  stage.run();
  CHECK(stage.devices("a") == Devices{{"g", "gpu-2"}});
  CHECK_FALSE(stage.reserved("a")->broken_since);
}

}  // namespace
}  // namespace fairlead::pool_tests::pod_reservations
