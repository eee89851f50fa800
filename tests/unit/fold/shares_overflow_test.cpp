// Where a super cluster has less than its namespaces hold, which of them yield; and that the sums
// by which this is found stay those of all shares.
#include <catch2/catch.hpp>
#include <random>
#include <utility>

#include "schema/write_rule.h"
#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::shares_overflow {
namespace {

using Ids = std::set<std::string>;

TEST_CASE("pool overflow: more is held than was accepted, of one dimension or of both") {
  PoolStage stage;
  stage.offer("r1", 10);
  stage.tenant("acme");
  stage.want(acme("web"), 2);
  stage.run();
  Pool& pool = stage.pool();
  set_share(stage.state, acme("web"), "r1", 10);
  CHECK(pool.overflowing.empty());
  set_share(stage.state, acme("web"), "r1", 11);
  CHECK(pool.overflowing == Ids{"r1"});
  CHECK(std::exchange(pool.overflow_changed, false));
  set_share(stage.state, acme("web"), "r1", 10);
  CHECK(pool.overflowing.empty());
  CHECK_FALSE(pool.overflow_changed);  // its end asks no share to yield
  set_unit(stage.state, acme("web"), {1, 4 * kGi + 1});
  CHECK(pool.overflowing == Ids{"r1"});
  pool.clusters.at("r1").known = false;
  recompute_overflow(pool, "r1");
  CHECK(pool.overflowing.empty());
}

TEST_CASE("pool overflow: the share that grew last yields, as little as ends it") {
  PoolStage stage;
  stage.offer("r1", 6);
  stage.tenant("acme");
  stage.want(acme("old"), 3);
  stage.run();
  stage.at(10);
  stage.want(acme("new"), 3);
  stage.run();
  stage.at(20);
  stage.offer("r2", 6);
  stage.run();
  CHECK(stage.placements(acme("new")) == SliceMap{{"r1", 3}});  // a new cluster moves nothing
  stage.at(30);
  stage.offer("r1", 5);
  stage.run();
  CHECK(stage.placements(acme("new")) == SliceMap{{"r1", 2}, {"r2", 1}});
  CHECK(stage.of(acme("new")).rule == rule::kPoolOverflow);
  CHECK(stage.placements(acme("old")) == SliceMap{{"r1", 3}});
  CHECK(stage.pool().overflowing.empty());
}

TEST_CASE("pool overflow: slices that pods need never move, so an older share may have to") {
  PoolStage stage;
  stage.offer("r1", 4);
  stage.tenant("acme");
  stage.want(acme("old"), 2);
  stage.run();
  stage.at(10);
  stage.want(acme("new"), 2);
  stage.pod(acme("new"), "p", pod_bound_in("r1", 2001, kGi));  // needs two slices
  stage.run();
  stage.at(20);
  stage.offer("r2", 4);
  stage.offer("r1", 3);
  stage.run();
  CHECK(stage.placements(acme("new")) == SliceMap{{"r1", 2}});
  CHECK(stage.placements(acme("old")) == SliceMap{{"r1", 1}, {"r2", 1}});
}

TEST_CASE("pool overflow: of shares that grew together the higher tenant and name yields first") {
  PoolStage stage;
  stage.offer("r1", 3);
  stage.tenant("acme");
  stage.tenant("bolt");
  for (const PoolNamespaceKey& key : {acme("y"), acme("z"), bolt("a")}) stage.want(key, 1);
  stage.run();
  stage.at(10);
  stage.offer("r2", 1);
  stage.offer("r1", 2);
  stage.run();
  CHECK(stage.placements(bolt("a")) == SliceMap{{"r2", 1}});
  stage.at(20);
  stage.offer("r1", 1);
  stage.run();
  CHECK(stage.pool().overflowing == Ids{"r1"});  // r2 is full: what finds no place stays
  CHECK(stage.placements(acme("z")) == SliceMap{{"r1", 1}});
  stage.at(30);
  stage.offer("r2", 2);
  stage.run();
  CHECK(stage.placements(acme("y")) == SliceMap{{"r1", 1}});
  CHECK(stage.placements(acme("z")) == SliceMap{{"r2", 1}});
}

TEST_CASE("pool overflow: a cluster that is lost keeps what it has, though it has too little") {
  PoolStage stage;
  stage.offer("r1", 4);
  stage.tenant("acme");
  stage.want(acme("web"), 4);
  stage.run();
  stage.offer("r1", 3);
  stage.run();
  stage.at(10);
  stage.lose("r1");
  stage.offer("r2", 4);
  stage.run();
  CHECK(stage.pool().overflowing == Ids{"r1"});
  CHECK(stage.placements(acme("web")) == SliceMap{{"r1", 4}});
  stage.at(20);
  stage.hear_from("r1");
  stage.run();
  CHECK(stage.placements(acme("web")) == SliceMap{{"r1", 3}, {"r2", 1}});
}

// What Pool::totals should be, counted from all shares.
std::map<std::string, PoolTotals> counted_anew(const Pool& pool) {
  std::map<std::string, PoolTotals> all;
  for (const auto& [tenant, of_tenant] : pool.tenants)
    for (const auto& [name, of] : of_tenant.namespaces)
      for (const auto& [id, share] : of.shares) {
        if (!share.listed) continue;
        const CpuMemorySum held = held_by(of, share);
        PoolTotals& totals = all[id];
        totals.held.cpu += held.cpu;
        totals.held.memory += held.memory;
        for (const auto& [resource, amount] : share.pods) totals.pods[resource] += amount;
        totals.namespaces.insert({tenant, name});
      }
  return all;
}

TEST_CASE("pool shares: after any changes the sums are those of all listed shares") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t bound) { return std::int64_t(random() % bound); };
    PoolStage stage;
    stage.tenant("acme");
    for (const char* name : {"a", "b"}) stage.want(acme(name), 1);
    stage.close();
    for (int change = 0; change < 60; ++change) {
      const PoolNamespaceKey key = acme(below(2) == 0 ? "a" : "b");
      const std::string id = below(2) == 0 ? "r1" : "r2";
      const std::string pod = below(2) == 0 ? "p" : "q";
      PodFacts facts = pod_bound_in(id, 1 + below(9000), kGi);
      facts.over = below(4) == 0;
      switch (below(5)) {
        case 0: set_share(stage.state, key, id, below(4)); break;
        case 1: set_share(stage.state, key, id, std::nullopt); break;
        case 2: set_unit(stage.state, key, {1 + below(5000), kGi}); break;
        case 3: stage.gone("tenant/acme", {Kind::pod, key.second, pod}); break;
        default: stage.pod(key, pod, facts);
      }
      INFO("seed " << seed << ", change " << change);
      std::map<std::string, PoolTotals> kept = stage.pool().totals;
      std::erase_if(kept, [](const auto& entry) { return entry.second == PoolTotals{}; });
      REQUIRE(kept == counted_anew(stage.pool()));
    }
  }
}

}  // namespace
}  // namespace fairlead::pool_tests::shares_overflow
