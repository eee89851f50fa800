// From facts to sums, before anything is decided: engine/fold/capacity/cluster_facts.cpp, declared
// in cluster.h.
#include <catch2/catch.hpp>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/node_count.h"
#include "engine/fold/close.h"
#include "engine/fold/objects.h"

namespace fairlead::cluster_facts_test {
namespace {

const std::string kCluster = "c1";

NodeFacts node_of(const std::string& type, Amount cpu) {
  NodeFacts facts;
  facts.labels = {{"type", type}};
  facts.ready = true;
  facts.allocatable = {{"cpu", cpu}};
  return facts;
}

// A hub with the flavors od and spot, and one cluster whose nodes are watched.
struct Bench {
  State state;
  Cluster& cluster = state.clusters[kCluster];
  std::uint64_t seq = 0;

  Bench() {
    for (const char* flavor : {"od", "spot"})
      state.flavors.by_name[flavor] = {{{"type", flavor}}, {}, {}, ""};
  }
  void node(const std::string& name, const NodeFacts& facts) {
    state.seq = Seq{++seq};
    observe_node(state, kCluster, name, &facts, state.seq);
  }
  void gone(const std::string& name) {
    state.seq = Seq{++seq};
    observe_node(state, kCluster, name, nullptr, state.seq);
  }
  void managed(std::optional<ManagedClusterFacts> facts) {
    state.seq = Seq{++seq};
    hand_on(state, observe_managed_cluster(state, kCluster, facts ? &*facts : nullptr, state.seq));
  }
  void metrics(std::optional<ClusterMetricsFacts> facts) {
    state.seq = Seq{++seq};
    observe_metrics(state, kCluster, facts ? &*facts : nullptr, state.seq);
  }
  void profile(const std::string& name, std::optional<ClusterProfileFacts> facts) {
    state.seq = Seq{++seq};
    ObjectObserved seen;
    seen.key = {Kind::cluster_profile, "ns", name};
    if (facts) seen.facts = *facts;
    fold_object(state, std::string(kHub), seen.key, facts ? &seen : nullptr, state.seq);
  }
  void close() {
    DirtySet dirty;
    for (const std::string& name : std::exchange(state.dirty_clusters, {}))
      hand_on(state, recompute_cluster(state, name, kForever, dirty));
  }
  // (offered, growing) of a flavor's cpu.
  std::pair<Amount, Amount> cpu(const std::string& flavor) const {
    const auto at = cluster.capacity.find({flavor, "cpu"});
    if (at == cluster.capacity.end()) return {0, 0};
    return {saturate(at->second.offered), saturate(at->second.growing)};
  }
};

using Sums = std::pair<Amount, Amount>;

TEST_CASE("cluster facts: a node counts for the flavor that wins it, while it is eligible") {
  Bench bench;
  bench.node("n1", node_of("od", 3000));
  bench.node("n2", node_of("od", 4000));
  bench.node("n3", node_of("none", 5000));
  CHECK(bench.cpu("od") == Sums{7000, 7000});
  CHECK(bench.cluster.eligible_nodes == 2);
  CHECK(flavor_for(bench.state, bench.cluster, *bench.cluster.reports.nodes.find("n1"), "cpu") ==
        NodeFlavor{"od", true});
  bench.node("n2", node_of("spot", 4000));
  CHECK(bench.cpu("od") == Sums{3000, 3000});
  CHECK(bench.cpu("spot") == Sums{4000, 4000});
  NodeFacts unready = node_of("od", 3000);
  unready.ready = false;
  bench.node("n1", unready);
  CHECK(bench.cpu("od") == Sums{0, 0});
  CHECK(bench.cluster.eligible_nodes == 1);
  bench.gone("n2");
  bench.gone("never there");
  CHECK(bench.cpu("spot") == Sums{0, 0});
  CHECK(bench.cluster.eligible_nodes == 0);
}

TEST_CASE("cluster facts: an alias adds to its canonical name") {
  Bench bench;
  bench.state.configuration.resource_aliases = {{"gpu", "nvidia.com/gpu"}};
  NodeFacts node = node_of("od", 1000);
  node.allocatable = {{"gpu", 2}, {"nvidia.com/gpu", 3}};
  bench.node("n1", node);
  REQUIRE(bench.cluster.capacity.size() == 1);
  CHECK(bench.cluster.capacity.at({"od", "nvidia.com/gpu"}).offered == 5);
}

TEST_CASE("cluster facts: a cordon is noted with what it took, a node that was cordoned is not") {
  Bench bench;
  bench.node("n1", node_of("od", 3000));
  bench.close();
  NodeFacts cordoned = node_of("od", 3000);
  cordoned.unschedulable = true;
  bench.node("n1", cordoned);
  CHECK(bench.cluster.observation.at_once == std::set<CapacityKey>{{"od", "cpu"}});
  CHECK(bench.cluster.observation.cordoned.at({"od", "cpu"}) == 3000);
  CHECK(bench.cluster.observation.cordoned_nodes == 1);
  bench.close();
  cordoned.allocatable = {{"cpu", 2000}};
  bench.node("n1", cordoned);
  CHECK(bench.cluster.observation.at_once.empty());
}

TEST_CASE("cluster facts: quick flaps suppress a node, which then does not grow") {
  Bench bench;
  bench.state.configuration.debounce.flap_penalty = 1000;
  bench.state.configuration.debounce.flap_suppress = 2500;
  NodeFacts up = node_of("od", 3000), down = up;
  down.ready = false;
  bench.node("n1", up);
  for (int flaps = 1; flaps <= 3; ++flaps) {
    bench.node("n1", down);
    bench.node("n1", up);
    INFO(flaps);
    CHECK(bench.cpu("od") == (flaps < 3 ? Sums{3000, 3000} : Sums{3000, 0}));
  }
  CHECK(bench.cluster.releases.size() == 1);
}

TEST_CASE("cluster facts: the first source that knows the cluster is in force") {
  Bench bench;
  ManagedClusterFacts totals;
  totals.allocatable = {{"cpu", 9000}};
  bench.managed(totals);
  CHECK(bench.cluster.source == CapacitySource::managed_cluster);
  CHECK(bench.cpu("") == Sums{9000, 9000});
  bench.metrics(ClusterMetricsFacts{{{"m1", node_of("od", 5000)}}});
  CHECK(bench.cluster.source == CapacitySource::cluster_metrics);
  CHECK(bench.cpu("") == Sums{0, 0});
  CHECK(bench.cpu("od") == Sums{5000, 5000});
  bench.node("n1", node_of("od", 3000));
  CHECK(bench.cluster.source == CapacitySource::nodes);
  CHECK(bench.cpu("od") == Sums{3000, 3000});
  // Sources behind the one in force are kept, and change nothing.
  bench.metrics(ClusterMetricsFacts{{{"m1", node_of("od", 6000)}}});
  CHECK(bench.cpu("od") == Sums{3000, 3000});
  bench.state.configuration.capacity_sources = {CapacitySource::cluster_metrics};
  recount_everything(bench.state);
  CHECK(bench.cluster.source == CapacitySource::cluster_metrics);
  CHECK(bench.cpu("od") == Sums{6000, 6000});
}

TEST_CASE("cluster facts: metrics without nodes say nothing, what they said last stays") {
  Bench bench;
  bench.metrics(ClusterMetricsFacts{{{"m1", node_of("od", 5000)}, {"m2", node_of("od", 1000)}}});
  bench.metrics(ClusterMetricsFacts{});
  CHECK(bench.cluster.reports.metrics_empty);
  CHECK(bench.cpu("od") == Sums{6000, 6000});
  bench.metrics(std::nullopt);  // and nothing else knows the cluster
  CHECK_FALSE(bench.cluster.reports.metrics_known);
  CHECK(bench.cpu("od") == Sums{6000, 6000});
  bench.metrics(ClusterMetricsFacts{{{"m2", node_of("od", 2000)}}});
  CHECK(bench.cpu("od") == Sums{2000, 2000});
}

TEST_CASE("cluster facts: totals stay after their ManagedCluster, also when all is counted again") {
  Bench bench;
  ManagedClusterFacts totals;
  totals.allocatable = {{"cpu", 9000}};
  bench.profile("p", ClusterProfileFacts{kCluster, true, {}});
  bench.managed(totals);
  bench.managed(std::nullopt);  // and nothing else knows the cluster
  CHECK(bench.cpu("") == Sums{9000, 9000});
  recount_everything(bench.state);
  CHECK(bench.cpu("") == Sums{9000, 9000});
  bench.profile("p", std::nullopt);
  CHECK(bench.cluster.presence.detached);
  bench.managed(ManagedClusterFacts{});  // a new cluster, which has not reported totals
  CHECK(bench.cpu("") == Sums{0, 0});
  recount_everything(bench.state);
  CHECK(bench.cpu("") == Sums{0, 0});
}

TEST_CASE("cluster facts: a cluster that leaves is detached, and begins anew when it joins again") {
  Bench bench;
  bench.managed(ManagedClusterFacts{});
  bench.node("n1", node_of("od", 3000));
  bench.cluster.known = true;
  bench.cluster.mapped = {{"od", "cpu"}};
  CHECK_FALSE(bench.cluster.presence.detached);
  bench.managed(std::nullopt);
  CHECK(bench.cluster.presence.detached);
  CHECK(bench.cluster.presence.changed_seq == bench.state.seq);
  bench.managed(ManagedClusterFacts{});
  CHECK_FALSE(bench.cluster.presence.detached);
  CHECK_FALSE(bench.cluster.known);
  CHECK(bench.cluster.mapped.empty());
  CHECK(bench.cpu("od") == Sums{3000, 3000});  // what the nodes say stays
}

TEST_CASE("cluster facts: a profile joins its cluster, and leaves the one that it named before") {
  Bench bench;
  const ClusterProfileFacts first{"c1", true, {}}, second{"c2", true, {}};
  bench.profile("p", first);
  CHECK(bench.cluster.joined());
  bench.managed(ManagedClusterFacts{});
  bench.profile("p", second);
  CHECK(bench.cluster.joined());  // its ManagedCluster is there
  CHECK(bench.cluster.presence.profiles.empty());
  CHECK(bench.state.clusters.at("c2").joined());
  bench.profile("p", std::nullopt);
  CHECK(bench.state.clusters.at("c2").presence.detached);
}

TEST_CASE("cluster facts: a cluster is joined while one of its profiles is there") {
  Bench bench;
  const std::set<std::pair<std::string, std::string>> both{{"ns", "a"}, {"ns", "b"}};
  bench.profile("b", ClusterProfileFacts{"c1", true, {}});
  bench.profile("a", ClusterProfileFacts{"c1", true, {}});
  CHECK(bench.cluster.presence.profiles == both);
  bench.state.dirty_clusters.clear();
  bench.profile("other", ClusterProfileFacts{"c2", true, {}});
  bench.profile("never there", std::nullopt);
  CHECK(bench.state.dirty_clusters == std::set<std::string>{"c2"});
  bench.profile("a", ClusterProfileFacts{"c1", true, {"provider"}});
  CHECK(bench.cluster.presence.profiles == both);
  bench.profile("a", std::nullopt);
  CHECK(bench.cluster.joined());
  bench.profile("b", std::nullopt);
  CHECK_FALSE(bench.cluster.joined());
  CHECK(bench.cluster.presence.detached);
}

TEST_CASE("cluster facts: the profiles of a cluster are those that name it") {
  Bench bench;
  std::uint64_t number = 1;
  const auto below = [&number](std::uint64_t limit) {
    number = number * 6364136223846793005U + 1442695040888963407U;
    return (number >> 33) % limit;
  };
  for (int step = 0; step < 500; ++step) {
    const std::string name = "p" + std::to_string(below(6));
    const std::uint64_t cluster = below(4);
    bench.profile(name, cluster == 0 ? std::nullopt
                                     : std::optional(ClusterProfileFacts{
                                           "c" + std::to_string(cluster), below(2) == 0, {}}));
    std::map<std::string, std::set<NamespacedName>> expected, actual;
    for (const auto& [id, profile] : bench.state.multikueue.profiles)
      expected[profile.facts.cluster].insert(id);
    for (const auto& [of, known] : bench.state.clusters)
      if (!known.presence.profiles.empty()) actual[of] = known.presence.profiles;
    REQUIRE(actual == expected);
  }
}

TEST_CASE("cluster facts: liveness is kept by source, and of the hub's streams for all clusters") {
  Bench bench;
  const auto of = [&](CapacitySource source) {
    return bench.cluster.reports.liveness.at(static_cast<std::size_t>(source));
  };
  observe_liveness(bench.state, kCluster, Kind::node, "", Liveness::stale, Seq{5});
  CHECK(of(CapacitySource::nodes) == Liveness::stale);
  CHECK(of(CapacitySource::cluster_metrics) == Liveness::live);
  CHECK(bench.cluster.reports.liveness_seq == Seq{5});
  observe_liveness(bench.state, std::string(kHub), std::nullopt, kCluster, Liveness::lost, Seq{6});
  CHECK(of(CapacitySource::managed_cluster) == Liveness::lost);
  observe_liveness(bench.state, std::string(kHub), Kind::managed_cluster, "", Liveness::stale,
                   Seq{7});
  CHECK(bench.state.hub_streams[1] == Liveness::stale);
  CHECK(bench.cluster.reports.liveness_seq == Seq{7});
  // The hub's own Nodes, and kinds that tell no capacity, concern no cluster.
  const State before = bench.state;
  observe_liveness(bench.state, std::string(kHub), Kind::node, "", Liveness::lost, Seq{8});
  observe_liveness(bench.state, std::string(kHub), Kind::claim, "", Liveness::lost, Seq{8});
  CHECK(bench.state == before);
}

TEST_CASE("cluster facts: a complete list of Nodes is a delivery, also an empty one") {
  Bench bench;
  ManagedClusterFacts totals;
  totals.allocatable = {{"cpu", 9000}};
  bench.managed(totals);
  observe_sign_of_life(bench.state, kCluster, Kind::node, "");
  CHECK(bench.cluster.reports.nodes_known);
  CHECK(bench.cluster.source == CapacitySource::nodes);
  CHECK(bench.cluster.observation.changed);
  CHECK(bench.cpu("") == Sums{0, 0});
}

}  // namespace
}  // namespace fairlead::cluster_facts_test
