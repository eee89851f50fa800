// Devices in the sums of a cluster: engine/fold/devices/device_capacity.cpp. What each rule counts
// is in tests/scenarios/devices.
#include "engine/fold/devices/device_capacity.h"

#include <catch2/catch.hpp>
#include <random>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/close.h"
#include "engine/fold/devices/observe_devices.h"

namespace fairlead::device_capacity_test {
namespace {

const std::string kCluster = "c1";
const std::string kDriver = "gpu.example.com";
const std::string kGpu = "example.com/gpu";

ResourceSliceFacts slice_of(const std::string& pool, const std::string& node, int devices) {
  ResourceSliceFacts slice;
  slice.driver = kDriver;
  slice.pool = pool;
  slice.generation = 1;
  slice.slice_count = 1;
  slice.reach.kind = NodeReachKind::node;
  slice.reach.node = node;
  for (int i = 0; i < devices; ++i)
    slice.devices.push_back({"gpu-" + std::to_string(i), {}, {}, {}});
  return slice;
}

struct Bench {
  State state;
  Cluster& cluster = state.clusters[kCluster];

  Bench() {
    for (const char* flavor : {"a", "b"})
      state.flavors.by_name[flavor] = {{{"type", flavor}}, {}, {}, ""};
    DeviceClassFacts all;
    all.extended_resource = kGpu;
    step();
    observe_device_class(state, kCluster, "all", &all, state.seq);
  }
  void step() { ++state.seq.value; }
  void node(const std::string& name, const std::string& type, bool ready = true,
            bool cordoned = false) {
    NodeFacts facts;
    facts.labels = {{"type", type}};
    facts.ready = ready;
    facts.unschedulable = cordoned;
    step();
    observe_node(state, kCluster, name, &facts, state.seq);
  }
  void slice(const std::string& name, const std::optional<ResourceSliceFacts>& facts) {
    step();
    observe_slice(state, kCluster, name, facts ? &*facts : nullptr, state.seq);
  }
  void close() {
    DirtySet dirty;
    for (const std::string& name : std::exchange(state.dirty_clusters, {}))
      hand_on(state, recompute_cluster(state, name, kForever, dirty));
  }
  // (offered, growing) of a flavor's devices.
  std::pair<Amount, Amount> gpus(const std::string& flavor) const {
    const auto at = cluster.capacity.find({flavor, kGpu});
    if (at == cluster.capacity.end()) return {0, 0};
    return {saturate(at->second.offered), saturate(at->second.growing)};
  }
};

using Sums = std::pair<Amount, Amount>;

TEST_CASE("device capacity: only pools that a moment marked are counted again") {
  Bench bench;
  bench.node("n1", "a");
  bench.node("n2", "a");
  bench.slice("s1", slice_of("p1", "n1", 3));
  bench.slice("s2", slice_of("p2", "n2", 4));
  bench.close();
  CHECK(bench.gpus("a") == Sums{7, 7});
  bench.slice("s2", slice_of("p2", "n2", 2));
  CHECK(bench.cluster.device_capacity.dirty_pools.size() == 1);
  bench.close();
  CHECK(bench.gpus("a") == Sums{5, 5});
  CHECK(bench.cluster.capacity.at({"a", kGpu}).causes.back() == bench.state.seq);
}

TEST_CASE("device capacity: an allocation that moves within its pool is counted again") {
  Bench bench;
  bench.node("n1", "a");
  ResourceSliceFacts slice = slice_of("p1", "n1", 0);
  slice.counters = {{"memory", {{"bytes", *Quantity::parse("40")}}}};
  for (const auto& [name, bytes] :
       {std::pair("whole", "40"), std::pair("a", "10"), std::pair("b", "10")}) {
    DeviceFacts& device = slice.devices.emplace_back();
    device.name = name;
    device.extras.emplace().consumes = {{"memory", {{"bytes", *Quantity::parse(bytes)}}}};
  }
  bench.slice("s1", slice);
  const auto allocate = [&](const std::string& device) {
    ResourceClaimFacts claim;
    claim.allocation.emplace().devices.push_back({"r", kDriver, "p1", device, false, "", {}});
    bench.step();
    observe_resource_claim(bench.state, kCluster, {"team", "claim"}, &claim, bench.state.seq);
    bench.close();
    return bench.gpus("a").first;
  };
  CHECK(allocate("whole") == 1);
  CHECK(allocate("a") == 2);
  CHECK(allocate("whole") == 1);
}

TEST_CASE("device capacity: the devices of a node that flaps do not count for growing") {
  Bench bench;
  bench.state.configuration.debounce.flap_penalty = 1000;
  bench.state.configuration.debounce.flap_suppress = 500;
  bench.state.configuration.debounce.flap_reuse = 400;
  bench.node("n1", "a");
  bench.slice("s1", slice_of("p1", "n1", 3));
  bench.close();
  bench.node("n1", "a", false);
  bench.node("n1", "a", true);
  bench.close();
  CHECK(bench.gpus("a").first == 3);
  CHECK(bench.gpus("a").second == 0);
}

TEST_CASE("device capacity: pools with equal sums share them until one of them changes") {
  Bench bench;
  for (const char* node : {"n1", "n2", "n3"}) {
    bench.node(node, "a");
    bench.slice(std::string("s-") + node, slice_of(std::string("p-") + node, node, 3));
  }
  bench.close();
  const auto sums = [&](const std::string& node) {
    return &*bench.cluster.device_capacity.pools.at({kDriver, "p-" + node}).sums;
  };
  CHECK(sums("n2") == sums("n1"));
  CHECK(sums("n3") == sums("n1"));
  bench.slice("s-n2", slice_of("p-n2", "n2", 2));
  bench.close();
  CHECK(sums("n3") == sums("n1"));
  CHECK(sums("n2") != sums("n1"));
  CHECK(bench.gpus("a").first == 8);
}

TEST_CASE("device capacity: an index that was lost is derived again, with equal sums") {
  Bench bench;
  bench.node("n1", "a");
  bench.slice("s1", slice_of("p1", "n1", 3));
  bench.close();
  State copy = bench.state;  // memos start empty
  CHECK_FALSE(copy.clusters.at(kCluster).device_capacity.index->derived);
  for (State* state : {&bench.state, &copy}) {
    const auto changed = slice_of("p1", "n1", 5);
    observe_slice(*state, kCluster, "s1", &changed, Seq{99});
    DirtySet dirty;
    hand_on(*state, recompute_cluster(*state, kCluster, kForever, dirty));
  }
  CHECK(copy == bench.state);
  CHECK(copy.clusters.at(kCluster).capacity.at({"a", kGpu}).offered == 5);
}

// One random change of a small world: slices that reach a node, a label or everything, pools of two
// slices, taints, rules, uses, nodes that come, go, break and change their flavor.
class RandomWorld {
 public:
  RandomWorld(Bench& bench, std::uint32_t seed) : bench_(bench), random_(seed) {}

  void change() {
    switch (below(10)) {
      case 0:
      case 1: return change_node();
      case 2: return use();
      case 3: return taint_by_rule();
      case 4: return name_classes();
      default: return change_slice();
    }
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  std::string node_name() { return "n" + std::to_string(below(4)); }

  void change_node() {
    const std::string name = node_name();
    bench_.step();
    if (below(5) == 0) return observe_node(bench_.state, kCluster, name, nullptr, bench_.state.seq);
    NodeFacts facts;
    facts.labels = {{"rack", below(2) == 0 ? "r1" : "r2"}, {"type", below(3) == 0 ? "b" : "a"}};
    facts.ready = below(4) != 0;
    facts.unschedulable = below(4) == 0;
    if (below(4) == 0) facts.allocatable = {{kGpu, 2}};
    observe_node(bench_.state, kCluster, name, &facts, bench_.state.seq);
  }
  NodeReach reach() {
    NodeReach reach;
    switch (below(4)) {
      case 0: reach.kind = NodeReachKind::all; break;
      case 1:
        reach.kind = NodeReachKind::selector;
        reach.selector.terms = {{{{"rack", "In", {below(2) == 0 ? "r1" : "r2"}}}, {}}};
        break;
      default: reach.kind = NodeReachKind::node; reach.node = node_name();
    }
    return reach;
  }
  void change_slice() {
    const std::string pool = "p" + std::to_string(below(3));
    const std::string part = std::to_string(below(2));
    if (below(5) == 0) return bench_.slice(pool + "-" + part, std::nullopt);
    ResourceSliceFacts slice = slice_of(pool, "", 0);
    slice.generation = 1 + below(2);
    slice.slice_count = 1 + below(2);
    slice.reach = reach();
    if (below(4) == 0) slice.reach = {NodeReachKind::devices, "", {}};
    for (std::uint32_t i = below(4); i > 0; --i) {
      DeviceFacts device{"d" + part + std::to_string(i), {}, {}, {}};
      DeviceExtras extras;
      if (slice.reach.kind == NodeReachKind::devices) extras.reach = reach();
      if (below(4) == 0) extras.taints = {{"k", "", below(2) == 0 ? "NoSchedule" : "NoExecute"}};
      if (extras != DeviceExtras{}) device.extras = extras;
      slice.devices.push_back(std::move(device));
    }
    bench_.slice(pool + "-" + part, slice);
  }
  void use() {
    bench_.step();
    ResourceClaimFacts claim;
    claim.allocation.emplace();
    claim.allocation->devices.push_back({"r",
                                         kDriver,
                                         "p" + std::to_string(below(3)),
                                         "d" + std::to_string(below(2)) + "1",
                                         below(3) == 0,
                                         "",
                                         {}});
    observe_resource_claim(bench_.state, kCluster, {"team", "c" + std::to_string(below(3))},
                           below(3) == 0 ? nullptr : &claim, bench_.state.seq);
  }
  void taint_by_rule() {
    bench_.step();
    DeviceTaintRuleFacts rule;
    rule.selects = below(4) != 0;
    if (below(2) == 0) rule.pool = "p" + std::to_string(below(3));
    rule.taint = {"r", "", "NoExecute"};
    observe_taint_rule(bench_.state, kCluster, "rule", below(2) == 0 ? nullptr : &rule,
                       bench_.state.seq);
  }
  void name_classes() {
    bench_.step();
    DeviceClassFacts facts;
    facts.extended_resource = below(2) == 0 ? kGpu : "example.com/any";
    facts.created = below(3);
    observe_device_class(bench_.state, kCluster, below(2) == 0 ? "all" : "more",
                         below(5) == 0 ? nullptr : &facts, bench_.state.seq);
  }

  Bench& bench_;
  std::mt19937 random_;
};

// The sums of everything that is not zero, without what led to them.
std::map<CapacityKey, Sums> sums_in(const Cluster& cluster) {
  std::map<CapacityKey, Sums> sums;
  for (const auto& [key, value] : cluster.capacity)
    if (value.offered != 0 || value.growing != 0)
      sums[key] = {saturate(value.offered), saturate(value.growing)};
  return sums;
}

std::string faults_in(const Cluster& cluster) {
  std::string text;
  for (const auto& [reason, pools] : cluster.device_capacity.faulty)
    for (const DevicePoolKey& key : pools) {
      text += std::to_string(static_cast<int>(reason)) + " " + key.pool + ":";
      for (const std::string& fault : cluster.device_capacity.pools.at(key).faults->at(reason))
        text += " " + fault;
      text += "\n";
    }
  return text;
}

TEST_CASE("device capacity: after any changes the sums are those of counting from nothing") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Bench bench;
    bench.state.configuration.dra.pool_hold = seconds(seed % 2 == 0 ? 20 : 0);
    RandomWorld world(bench, seed);
    for (int moment = 0; moment < 25; ++moment) {
      bench.state.now = LogTime{} + seconds(10 * moment);
      for (std::uint32_t i = 0; i <= seed % 3; ++i) world.change();
      mark_capacity_dirty(bench.state, kCluster);  // what a deadline of a hold does
      bench.close();
      State anew = bench.state;
      Cluster& cluster = anew.clusters.at(kCluster);
      recount_everything(anew);
      count_devices(anew, cluster);
      INFO("seed " << seed << ", moment " << moment);
      REQUIRE(sums_in(cluster) == sums_in(bench.cluster));
      REQUIRE(faults_in(cluster) == faults_in(bench.cluster));
      // The sums of pools are all that devices add.
      DeviceSums sums;
      for (const auto& [key, pool] : bench.cluster.device_capacity.pools)
        for (const auto& [at, sum] : *pool.sums) sums[at].offered += sum.offered;
      for (const auto& [at, sum] : sums)
        REQUIRE(bench.cluster.capacity.at(at).offered >= sum.offered);
    }
  }
}

}  // namespace
}  // namespace fairlead::device_capacity_test
