// Deciding a moment of one cluster: engine/fold/capacity/cluster_close.cpp, declared in cluster.h.
#include <catch2/catch.hpp>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/close.h"
#include "engine/fold/members/member_deviation.h"

namespace fairlead::cluster_close_test {
namespace {

const std::string kCluster = "c1";

// A cluster of one flavor, whose settings are: shrink after 15 s, grow after 300 s, a loss of more
// than half is held for 60 s.
struct Bench {
  State state;
  Cluster& cluster = state.clusters[kCluster];
  DirtySet dirty;

  Bench() {
    state.flavors.by_name["od"] = {};
    state.configuration.headroom.percent.clear();
    DebounceSettings& settings = state.configuration.debounce;
    settings = {};
    settings.shrink_window = seconds(15);
    settings.grow_window = seconds(300);
    settings.first_quiet = seconds(60);
    settings.mass_shrink_percent = 50;
    settings.mass_shrink_hold = seconds(60);
    settings.grow_deadband_percent = 0;
    settings.min_grow_interval = {};
  }
  void at(std::int64_t second) { state.now = LogTime{} + seconds(second); }
  void node(const std::string& name, Amount cpu) {
    NodeFacts facts;
    facts.ready = cpu > 0;
    facts.allocatable = {{"cpu", cpu}};
    observe_node(state, kCluster, name, &facts, Seq{1});
  }
  void close() {
    state.dirty_clusters.erase(kCluster);
    hand_on(state, recompute_cluster(state, kCluster, next_touch(state, kCluster), dirty));
  }
  // Runs every deadline of the cluster up to that second.
  void until(std::int64_t second) {
    const LogTime end = LogTime{} + seconds(second);
    while (deadline() <= end) {
      state.now = deadline();
      state.deadlines.clear(ClusterDeadline{kCluster});
      close();
    }
    state.now = end;
  }
  LogTime deadline() const {
    const auto found = state.deadlines.all().find(ClusterDeadline{kCluster});
    return found == state.deadlines.all().end() ? kForever : found->second;
  }
  Amount accepted() const {
    const auto found = cluster.capacity.find({"od", "cpu"});
    return found == cluster.capacity.end() ? 0 : found->second.damped.accepted;
  }
  // 10 cpu in two nodes, accepted at 60 s.
  void settle() {
    node("n1", 6000);
    node("n2", 4000);
    close();
    until(100);
    REQUIRE(cluster.known);
    REQUIRE(accepted() == 10000);
  }
};

TEST_CASE(
    "cluster close: the first value is accepted when it was quiet, or after the grow window") {
  Bench bench;
  bench.node("n1", 6000);
  bench.close();
  CHECK(bench.deadline() == LogTime{} + seconds(60));
  SECTION("quiet") {
    bench.until(60);
    CHECK(bench.cluster.known);
    CHECK(bench.accepted() == 6000);
    CHECK(bench.dirty.clusters.contains(kCluster));
  }
  SECTION("never quiet: the least of the grow window, at its end") {
    for (std::int64_t second = 30; second < 300; second += 30) {
      bench.until(second);
      bench.node("n1", second == 60 ? 2000 : 6000 + second);
      bench.close();
      CHECK_FALSE(bench.cluster.known);
    }
    bench.until(300);
    CHECK(bench.cluster.known);
    CHECK(bench.accepted() == 2000);
  }
  SECTION("also while a loss is held: a first value is not a fall") {
    bench.state.configuration.debounce.mass_shrink_hold = seconds(200);
    ++*bench.state.claims.terms_changes;
    bench.cluster.hold = Hold{LogTime{}, {}};
    bench.close();
    CHECK(bench.deadline() == LogTime{} + seconds(60));
    bench.until(60);
    CHECK(bench.accepted() == 6000);
    CHECK(bench.deadline() == LogTime{} + seconds(200));
  }
  SECTION("a hub that reported no flavor yet waits") {
    bench.state.flavors.by_name.clear();
    bench.until(1000);
    CHECK_FALSE(bench.cluster.known);
  }
}

TEST_CASE("cluster close: a fall counts after the shrink window, a rise after the grow window") {
  Bench bench;
  bench.settle();
  bench.node("n2", 3000);
  bench.close();
  CHECK(bench.deadline() == bench.state.now + seconds(15));
  bench.until(114);
  CHECK(bench.accepted() == 10000);
  bench.until(115);
  CHECK(bench.accepted() == 9000);
  CHECK(bench.cluster.capacity.at({"od", "cpu"}).fell_by == FallCause::shrink_window);
  bench.node("n2", 4000);
  bench.close();
  bench.until(414);
  CHECK(bench.accepted() == 9000);
  bench.until(415);
  CHECK(bench.accepted() == 10000);
  CHECK(still_since(bench.cluster) == LogTime{} + seconds(415));
  CHECK(bench.deadline() == kForever);
}

TEST_CASE("cluster close: a loss of half is no mass loss, one of more is held") {
  Bench bench;
  bench.settle();
  SECTION("half") {
    bench.node("n1", 1000);
    bench.close();
    CHECK_FALSE(bench.cluster.hold);
  }
  SECTION("more: until the hold is over") {
    bench.node("n1", 999);
    bench.close();
    REQUIRE(bench.cluster.hold);
    CHECK(bench.cluster.hold->before == std::map<std::string, Amount>{{"cpu", 10000}});
    bench.until(159);
    CHECK(bench.accepted() == 10000);
    bench.until(160);
    CHECK(bench.accepted() == 4999);
    CHECK(bench.cluster.capacity.at({"od", "cpu"}).fell_by == FallCause::mass_shrink_hold);
  }
  SECTION("more: until it is seen again") {
    bench.node("n1", 999);
    bench.close();
    bench.until(130);
    observe_sign_of_life(bench.state, kCluster, Kind::node, "");
    bench.close();
    CHECK_FALSE(bench.cluster.hold);
    CHECK(bench.accepted() == 4999);
    CHECK(bench.cluster.capacity.at({"od", "cpu"}).fell_by == FallCause::second_observation);
  }
  SECTION("more, and the ManagedCluster agrees") {
    bench.node("n1", 999);
    bench.close();
    ManagedClusterFacts facts;
    facts.allocatable = {{"cpu", 4999}};
    hand_on(bench.state, observe_managed_cluster(bench.state, kCluster, &facts, Seq{2}));
    bench.close();
    CHECK_FALSE(bench.cluster.hold);
  }
  SECTION("the check is off") {
    bench.state.configuration.debounce.mass_shrink_percent = 0;
    ++*bench.state.claims.terms_changes;
    bench.node("n1", 0);
    bench.node("n2", 0);
    bench.close();
    CHECK_FALSE(bench.cluster.hold);
  }
}

TEST_CASE("cluster close: a stale source freezes growth, a lost one everything") {
  Bench bench;
  bench.settle();
  bench.node("n3", 5000);
  bench.close();
  observe_liveness(bench.state, kCluster, Kind::node, "", Liveness::stale, Seq{3});
  bench.close();
  CHECK(bench.cluster.liveness_at_close == Liveness::stale);
  bench.until(1000);
  CHECK(bench.accepted() == 10000);
  bench.node("n1", 3000);  // 12 cpu: no fall below what is accepted
  bench.node("n3", 2000);  // 9 cpu
  bench.close();
  bench.until(1015);
  CHECK(bench.accepted() == 9000);
  observe_liveness(bench.state, kCluster, Kind::node, "", Liveness::lost, Seq{4});
  bench.close();
  CHECK(bench.cluster.lost());
  CHECK(bench.cluster.counted_again_at == kForever);
  bench.node("n1", 0);
  bench.close();
  bench.until(2000);
  CHECK(bench.accepted() == 9000);
  // Back: the hub counts it again after the grow window.
  observe_liveness(bench.state, kCluster, Kind::node, "", Liveness::live, Seq{5});
  bench.close();
  CHECK(bench.cluster.counted_again_at == bench.state.now + seconds(300));
  bench.until(2300);
  CHECK_FALSE(bench.cluster.counted_again_at);
}

TEST_CASE(
    "cluster close: an unavailable ManagedCluster is stale at once, and lost after its time") {
  Bench bench;
  bench.state.configuration.debounce.lost_after = seconds(900);
  bench.settle();
  ManagedClusterFacts facts;
  facts.available = {ConditionStatus::unknown, "", 0};
  hand_on(bench.state, observe_managed_cluster(bench.state, kCluster, &facts, Seq{2}));
  const auto liveness = [&] {
    return liveness_of(bench.state, bench.cluster, bench.state.configuration.debounce);
  };
  CHECK(liveness() == Liveness::stale);
  bench.at(999);
  CHECK(liveness() == Liveness::stale);
  bench.at(1000);
  CHECK(liveness() == Liveness::lost);
  facts.available.status = ConditionStatus::absent;  // no word of it: no doubt
  hand_on(bench.state, observe_managed_cluster(bench.state, kCluster, &facts, Seq{3}));
  CHECK(liveness() == Liveness::live);
}

TEST_CASE("cluster close: accepted totals are those of the flavors, or of the totals, never both") {
  Cluster cluster;
  cluster.capacity[{"od", "cpu"}].damped.accepted = 3;
  cluster.capacity[{"spot", "cpu"}].damped.accepted = 4;
  cluster.capacity[{"", "cpu"}].damped.accepted = 100;
  cluster.capacity[{"od", "memory"}].damped.accepted = 50;
  CHECK(accepted_total(cluster, "cpu") == 7);
  cluster.totals_accepted = true;
  CHECK(accepted_total(cluster, "cpu") == 100);
  CHECK(accepted_total(cluster, "memory") == 0);
}

TEST_CASE("cluster close: whether there is a member follows from the mode") {
  State state;
  Cluster cluster;
  const auto in_mode = [&](MemberMode mode) {
    state.configuration.member_mode = mode;
    return has_member(state.configuration, cluster);
  };
  CHECK_FALSE(in_mode(MemberMode::automatic));
  CHECK(in_mode(MemberMode::manifest_work));
  cluster.presence.managed = ManagedClusterFacts{};
  CHECK(in_mode(MemberMode::automatic));
  CHECK(in_mode(MemberMode::binding_policy));
  CHECK_FALSE(in_mode(MemberMode::none));
}

TEST_CASE("cluster close: a cluster that is not there is not made") {
  State state;
  DirtySet dirty;
  hand_on(state, recompute_cluster(state, "none", kForever, dirty));
  CHECK(state.clusters.empty());
  CHECK(dirty.empty());
}

}  // namespace
}  // namespace fairlead::cluster_close_test
