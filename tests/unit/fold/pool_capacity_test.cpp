// What a super cluster offers to tenants: docs/pool.md.
#include "engine/fold/capacity/pool_capacity.h"

#include <catch2/catch.hpp>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/state.h"

namespace fairlead::pool_capacity_test {
namespace {

// A member of which the pool has 60 percent, without headroom. A value falls after 15 s and grows
// after 300 s; a first value counts after 60 s without a change.
struct Bench {
  State state;
  Cluster cluster;
  DebounceSettings settings;
  CanonicalHeadroom headroom;

  Bench() {
    settings.shrink_window = seconds(15);
    settings.grow_window = seconds(300);
    settings.first_quiet = seconds(60);
    settings.mass_shrink_hold = seconds(60);
    settings.min_grow_interval = {};
    settings.grow_deadband_percent = 0;
    state.configuration.pool.clusters = {{"c1", 60, {}, {}, false}};
    cluster.pool.member = true;
    at(1000);
    set_pool_terms(state, "c1", cluster);
  }
  LogTime now() const { return state.now; }
  void at(std::int64_t second) { state.now = LogTime{} + seconds(second); }
  static NodeRecord node(Amount cpu) {
    NodeRecord record;
    record.facts.ready = true;
    record.facts.allocatable = {{"cpu", cpu}};
    return record;
  }
  void add(Amount cpu) { add_to_pool(state.configuration, cluster, node(cpu), 1, Seq{5}); }
  void remove(Amount cpu) { add_to_pool(state.configuration, cluster, node(cpu), -1, Seq{6}); }
  CapacityValue& cpu() { return cluster.pool.values["cpu"].capacity; }
  Amount accepted() { return cpu().damped.accepted; }
  // Decides the moment of that second.
  void decide(std::int64_t second) {
    at(second);
    measure_pool(cluster, headroom, now());
    close_pool(cluster, settings, FallCause::shrink_window, now());
    cluster.observation = {};
  }
  LogTime deadline() { return next_pool_deadline(cluster, settings, now()); }
  // The pool has 6 of 10 cpu, accepted at 1060 s.
  Bench& with_ten() {
    add(6000);
    add(4000);
    decide(1000);
    decide(1060);
    REQUIRE(accepted() == 6000);
    // A first value of the pool needs no ResourceFlavor: it is the same in any.
    REQUIRE(state.flavors.by_name.empty());
    return *this;
  }
};

TEST_CASE("pool capacity: a member with an entry offers its percentage, and nothing without") {
  Bench bench;
  CHECK(bench.cluster.pool.offered);
  CHECK(bench.cluster.pool.percent == 60);
  CHECK(bench.cluster.pool.first_seen == bench.now());
  bench.with_ten();
  bench.state.configuration.pool.clusters[0].percent = 30;
  set_pool_terms(bench.state, "c1", bench.cluster);
  CHECK(bench.cluster.pool.percent == 30);
  CHECK(bench.cluster.pool.known);  // it is the same super cluster
  bench.state.configuration.pool.clusters.clear();
  set_pool_terms(bench.state, "c1", bench.cluster);
  CHECK_FALSE(bench.cluster.pool.offered);
  CHECK(bench.cluster.pool.percent == 0);
  CHECK_FALSE(bench.cluster.pool.known);
  CHECK(bench.cluster.pool.values.empty());
}

TEST_CASE("pool capacity: a cluster whose API server was never heard of offers nothing") {
  Bench bench;
  Cluster other;
  bench.state.configuration.pool.clusters = {{"*", 60, {}, {}, false}};
  set_pool_terms(bench.state, "c2", other);
  CHECK_FALSE(other.pool.offered);
  CHECK(other.pool.percent == 0);
}

TEST_CASE("pool capacity: each map of an entry's headroom replaces the configuration's whole") {
  Configuration configuration;
  configuration.headroom.percent = {{"cpu", 5}, {"memory", 7}};
  configuration.headroom.reserved = {{"cpu", "2"}};
  configuration.pool.clusters.resize(2);
  PoolCluster& own = configuration.pool.clusters[0];
  own.name = "c1";
  own.headroom_percent = std::map<std::string, std::int64_t>{{"gpu", 50}};
  configuration.pool.clusters[1].name = "*";
  const auto row = [&](const std::string& cluster, const char* resource) {
    CanonicalHeadroom headroom = pool_headroom_of(configuration, cluster);
    const auto& found = headroom.row_of(resource);
    return std::pair(found.percent, found.reserved);
  };
  using Row = std::pair<std::int64_t, Amount>;
  CHECK(row("c2", "cpu") == Row(5, 2000));
  CHECK(row("c1", "cpu") == Row(0, 2000));
  CHECK(row("c1", "nvidia.com/gpu") == Row(50, 0));
  CHECK(row("c1", "memory") == Row(0, 0));
  own.headroom_reserved.emplace();
  CHECK(row("c1", "cpu") == Row(0, 0));
}

TEST_CASE("pool capacity: a node counts if it is ready, schedulable and its taints are tolerated") {
  PoolSettings settings;
  NodeFacts node;
  CHECK_FALSE(is_eligible_for_pool(settings, node));
  node.ready = true;
  CHECK(is_eligible_for_pool(settings, node));
  node.unschedulable = true;
  CHECK_FALSE(is_eligible_for_pool(settings, node));
  node.unschedulable = false;
  node.taints = {{"k", "v", "PreferNoSchedule"}};
  CHECK(is_eligible_for_pool(settings, node));
  node.taints = {{"k", "v", "NoSchedule"}};
  CHECK_FALSE(is_eligible_for_pool(settings, node));
  const auto tolerated = [&](const PoolToleration& toleration) {
    settings.tolerations = {toleration};
    return is_eligible_for_pool(settings, node);
  };
  CHECK(tolerated({"k", "Equal", "v", ""}));
  CHECK(tolerated({"k", "Exists", "", "NoSchedule"}));
  CHECK(tolerated({"", "Exists", "", ""}));
  CHECK_FALSE(tolerated({"k", "Equal", "w", ""}));
  CHECK_FALSE(tolerated({"j", "Exists", "", ""}));
  CHECK_FALSE(tolerated({"k", "Exists", "", "NoExecute"}));
  CHECK_FALSE(tolerated({"", "Equal", "v", ""}));  // an empty key needs Exists
}

TEST_CASE("pool capacity: nodes add up whatever their flavor, suppressed ones not for growing") {
  Bench bench;
  NodeRecord node = Bench::node(4000);
  node.suppressed = true;
  add_to_pool(bench.state.configuration, bench.cluster, node, 1, Seq{4});
  bench.add(6000);
  CHECK(bench.cluster.pool.eligible_nodes == 2);
  CHECK(bench.cpu().offered == 10000);
  CHECK(bench.cpu().growing == 6000);
  CHECK(bench.cpu().causes == std::vector<Seq>{Seq{4}, Seq{5}});
  grow_pool(bench.state.configuration, bench.cluster, node);
  CHECK(bench.cpu().growing == 10000);
  bench.remove(6000);
  CHECK(bench.cluster.pool.eligible_nodes == 1);
  CHECK(bench.cpu().offered == 4000);
  clear_pool_sums(bench.cluster);
  CHECK(bench.cpu().offered == 0);
  CHECK(bench.cluster.pool.eligible_nodes == 0);
}

TEST_CASE("pool capacity: what claims and the pool get of an amount is never more than it") {
  Bench bench;
  for (const Amount usable : {Amount{0}, Amount{1}, Amount{7}, Amount{99}, Amount{INT64_MAX}})
    for (std::int64_t percent = 0; percent <= 100; ++percent) {
      bench.cluster.pool.percent = percent;
      const Amount claims = rest_for_claims(bench.cluster, usable);
      const Amount pool = part_of_pool(bench.cluster, usable);
      if (Int128{claims} + pool > usable || Int128{claims} + pool + 1 < usable)
        FAIL("of " << usable << " at " << percent << ": " << claims << " and " << pool);
    }
  bench.cluster.pool.percent = 60;
  CHECK(part_of_pool(bench.cluster, 99) == 59);
  CHECK(rest_for_claims(bench.cluster, 99) == 39);
  bench.cluster.pool.percent = 0;
  CHECK(rest_for_claims(bench.cluster, 99) == 99);
}

TEST_CASE("pool capacity: a fall is one of hundredths, which rounding would hide") {
  Bench bench;
  bench.headroom.rows = {{"cpu", 33, 0}};
  CHECK(usable_hundredths(100, "cpu", bench.headroom) == 6700);
  CHECK(usable_hundredths(100, "memory", bench.headroom) == 10000);
  bench.headroom.rows = {{"cpu", 33, 90}};
  CHECK(usable_hundredths(100, "cpu", bench.headroom) == 0);  // never negative
  bench.headroom.rows = {{"cpu", 99, 0}};
  bench.add(199);
  bench.decide(1000);
  CHECK_FALSE(pool_falls(bench.cluster, bench.headroom));
  bench.add(150);
  bench.remove(199);  // 1.5 usable, of 1.99 before
  CHECK(pool_falls(bench.cluster, bench.headroom));
  bench.add(49);
  CHECK_FALSE(pool_falls(bench.cluster, bench.headroom));
}

TEST_CASE("pool capacity: first values count when quiet, or the least at the end of growWindow") {
  Bench bench;
  bench.add(10000);
  bench.decide(1000);
  CHECK(bench.deadline() == LogTime{} + seconds(1060));
  SECTION("quiet") {
    bench.decide(1059);
    CHECK_FALSE(bench.cluster.pool.known);
    bench.decide(1060);
    CHECK(bench.accepted() == 6000);
    CHECK(bench.cpu().moved == bench.now());
  }
  SECTION("never quiet") {
    for (std::int64_t second = 1030; second < 1300; second += 30) {
      second == 1090 ? bench.remove(5000) : bench.add(1000);
      bench.decide(second);
      CHECK_FALSE(bench.cluster.pool.known);
    }
    bench.decide(1300);
    CHECK(bench.accepted() == 6000 * 7 / 10);  // of 7 cpu, from 1090 s on
  }
  SECTION("not while the source is stale") {
    update_pool_liveness(bench.cluster, Liveness::stale, bench.settings, bench.now());
    bench.decide(1300);
    CHECK_FALSE(bench.cluster.pool.known);
    CHECK(bench.deadline() == kForever);
  }
}

TEST_CASE("pool capacity: a value falls after shrinkWindow and grows after growWindow") {
  Bench bench;
  bench.with_ten();
  bench.remove(4000);
  bench.decide(1100);
  CHECK(bench.deadline() == LogTime{} + seconds(1115));
  bench.decide(1114);
  CHECK(bench.accepted() == 6000);
  bench.decide(1115);
  CHECK(bench.accepted() == 3600);
  bench.add(4000);
  bench.decide(1115);
  CHECK(bench.deadline() == LogTime{} + seconds(1415));
  bench.decide(1414);
  CHECK(bench.accepted() == 3600);
  bench.decide(1415);
  CHECK(bench.accepted() == 6000);
}

TEST_CASE("pool capacity: what a cordon takes falls at once, also while a loss is held") {
  Bench bench;
  bench.with_ten();
  NodeRecord node = Bench::node(4000);
  node.counted.in_pool = true;
  note_pool_cordon(bench.state.configuration, bench.cluster, node);
  const PoolObservation seen = bench.cluster.observation.pool;
  CHECK(seen.at_once == std::set<std::string>{"cpu"});
  CHECK(seen.cordoned == std::map<std::string, Int128>{{"cpu", 4000}});
  CHECK(seen.cordoned_nodes == 1);
  SECTION("without a hold") {}
  SECTION("with one") { bench.cluster.hold = Hold{bench.now(), {}}; }
  bench.remove(4000);
  bench.decide(1100);
  CHECK(bench.accepted() == 3600);
}

TEST_CASE("pool capacity: a hold keeps every value until it ends") {
  Bench bench;
  bench.with_ten();
  bench.at(1100);
  bench.cluster.hold = Hold{bench.now(), {}};
  SECTION("from falling") {
    bench.remove(4000);
    bench.decide(1100);
    CHECK(bench.deadline() == LogTime{} + seconds(1160));
    bench.decide(1159);
    CHECK(bench.accepted() == 6000);
    bench.cluster.hold.reset();
    bench.decide(1160);
    CHECK(bench.accepted() == 3600);
  }
  SECTION("from growing") {
    bench.add(5000);
    bench.decide(1100);
    note_pool_cordon(bench.state.configuration, bench.cluster,
                     Bench::node(1000));  // lets falls through alone
    bench.decide(1500);
    CHECK(bench.accepted() == 6000);
    bench.cluster.hold.reset();
    bench.decide(1500);
    CHECK(bench.accepted() == 9000);
  }
}

TEST_CASE("pool capacity: after a loss a super cluster counts again a growWindow later") {
  Bench bench;
  bench.with_ten();
  ClusterPool& pool = bench.cluster.pool;
  const auto becomes = [&](Liveness liveness, std::int64_t second) {
    bench.at(second);
    update_pool_liveness(bench.cluster, liveness, bench.settings, bench.now());
  };
  becomes(Liveness::stale, 1100);
  CHECK_FALSE(pool.lost_since);
  bench.add(5000);
  bench.decide(1100);
  bench.decide(1500);
  CHECK(bench.accepted() == 6000);  // a stale source grows nothing
  becomes(Liveness::lost, 1600);
  CHECK(pool.lost_since == bench.now());
  CHECK(bench.deadline() == kForever);
  becomes(Liveness::stale, 1700);  // some of it was heard: that ends no loss
  CHECK(pool.liveness == Liveness::lost);
  becomes(Liveness::live, 1800);
  CHECK_FALSE(pool.lost_since);
  CHECK(pool.counted_again_at == LogTime{} + seconds(2100));
  bench.decide(2099);
  CHECK(bench.accepted() == 6000);
  bench.decide(2100);
  CHECK(bench.accepted() == 9000);
  becomes(Liveness::lost, 2200);
  CHECK_FALSE(pool.counted_again_at);
}

TEST_CASE("pool capacity: the totals of a ManagedCluster count where it has no nodes") {
  Bench bench;
  bench.cluster.reports.totals = {{"cpu", 8000}};
  bench.cluster.presence.managed_seq = Seq{7};
  add_totals_to_pool(bench.cluster);
  CHECK(bench.cpu().offered == 8000);
  CHECK(bench.cpu().growing == 8000);
  CHECK(bench.cpu().causes == std::vector<Seq>{Seq{7}});
  Cluster none;
  none.reports.totals = {{"cpu", 8000}};
  add_totals_to_pool(none);
  CHECK(none.pool.values.empty());
}

}  // namespace
}  // namespace fairlead::pool_capacity_test
