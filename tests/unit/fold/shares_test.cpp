// What namespaces hold at a super cluster, what room that leaves to others, and which shares yield
// where it is too much.
#include "engine/fold/pool/shares.h"

#include <catch2/catch.hpp>
#include <utility>

#include "schema/write_rule.h"
#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::shares {
namespace {

const PoolNamespaceKey kWeb = acme("web");
const PoolNamespaceKey kDb = bolt("db");

CpuMemorySum default_slices(std::int64_t count) {
  return {Int128{kDefaultSlice.cpu} * count, Int128{kDefaultSlice.memory} * count};
}

// acme/web has two slices of r1 and bolt/db three, where ten fit; r2 is empty.
struct TwoTenants : PoolStage {
  TwoTenants() {
    offer("r1", 10);
    offer("r2", 10);
    tenant("acme");
    tenant("bolt");
    want(kWeb, 2);
    want(kDb, 3);
    run();
  }
  const PoolTotals& totals(const std::string& id) { return pool().totals.at(id); }
  CpuMemorySum others(const std::string& id) { return others_at(state.pool, of(kWeb), id); }
};

TEST_CASE("pool shares: a namespace holds the larger of its slices and pods, in each dimension") {
  TwoTenants stage;
  CHECK(stage.others("r1") == default_slices(3));
  stage.pod(kDb, "p", pod_bound_in("r1", 7000, kGi));
  stage.close();
  CHECK(stage.others("r1") == CpuMemorySum{7000, 12 * kGi});
  CHECK(others_at(stage.state.pool, stage.of(kDb), "r1") == default_slices(2));
  CHECK(needed_slices(stage.of(kDb), stage.of(kDb).shares.at("r1")) == 4);  // 3.5
  PodFacts over = pod_bound_in("r1", 7000, kGi);
  over.over = true;
  stage.pod(kDb, "p", over);
  stage.close();
  CHECK(stage.others("r1") == default_slices(3));
}

TEST_CASE("pool shares: room is what others leave, in whole slices, and only at open clusters") {
  TwoTenants stage;
  const auto room = [&](const std::string& id, const CpuMemory& unit) {
    return room_at(stage.state, stage.of(kWeb), id, unit);
  };
  CHECK(room("r1", kDefaultSlice) == 7);
  CHECK(room("r1", {1000, 15 * kGi}) == 1);  // 28Gi are left
  CHECK(room("r1", {1000, 29 * kGi}) == 0);
  CHECK(room("r2", {14'000, kGi}) == 1);
  set_share(stage.state, kDb, "r1", 12);
  CHECK(room("r1", kDefaultSlice) == 0);  // no less where there is too little
  set_share(stage.state, kDb, "r1", 3);
  stage.lose("r1");
  stage.close();
  CHECK(room("r1", kDefaultSlice) == 0);
  CHECK(room("r9", kDefaultSlice) == 0);
}

TEST_CASE("pool shares: a listed id with 0 counts its pods, and one that is not listed does not") {
  TwoTenants stage;
  stage.pod(kWeb, "p", pod_bound_in("r2", 500, kGi));
  stage.close();
  CHECK(stage.of(kWeb).shares.at("r2").pod_count == 1);
  CHECK_FALSE(stage.placements(kWeb).contains("r2"));
  CHECK(stage.totals("r2").pods.empty());
  CHECK(stage.totals("r2").held == CpuMemorySum{});
  set_share(stage.state, kWeb, "r2", 0);
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}, {"r2", 0}});
  CHECK(stage.totals("r2").pods == std::map<std::string, Int128>{{"cpu", 500}, {"memory", kGi}});
  CHECK(stage.totals("r2").held == CpuMemorySum{500, kGi});
  CHECK(stage.totals("r2").namespaces == std::set{kWeb});
  set_share(stage.state, kWeb, "r2", std::nullopt);
  CHECK(stage.of(kWeb).shares.at("r2").pod_count == 1);
  CHECK(stage.totals("r2").namespaces.empty());
  CHECK(stage.totals("r2").held == CpuMemorySum{});
}

TEST_CASE("pool shares: room grows where something falls, and only a growing share grew") {
  TwoTenants stage;
  stage.at(10);
  stage.close();
  bool& grew = stage.pool().room_grew;
  set_share(stage.state, kWeb, "r1", 4);
  CHECK_FALSE(grew);
  CHECK(stage.of(kWeb).shares.at("r1").grown == second(10));
  stage.at(20);
  stage.close();
  grew = false;
  set_share(stage.state, kWeb, "r1", 3);
  CHECK(std::exchange(grew, false));
  CHECK(stage.of(kWeb).shares.at("r1").grown == second(10));
  set_unit(stage.state, kWeb, {1000, 9 * kGi});  // less cpu, more memory
  CHECK(std::exchange(grew, false));
  CHECK(stage.pool().tenants.at("acme").slices == CpuMemorySum{3000, 27 * kGi});
  set_unit(stage.state, kWeb, {1001, 9 * kGi});
  CHECK_FALSE(grew);
}

TEST_CASE("pool shares: a stranger holds what it says of the id that it is in") {
  TwoTenants stage;
  const auto strangers = [&](const std::string& placements, const std::string& uid) {
    stage.made_for(acme("x"), "r1", placements, uid);
    return stage.totals("r1").strangers;
  };
  CHECK(strangers(R"({"r1":2,"r2":5})", "") == default_slices(2));
  CHECK(stage.others("r1") == default_slices(5));
  stage.pool().room_grew = false;
  CHECK(strangers(R"({"r2":5})", "") == CpuMemorySum{});
  CHECK(stage.pool().room_grew);
  CHECK(strangers("nonsense", "") == CpuMemorySum{});
  stage.want(acme("x"), 1);
  stage.run();
  CHECK(strangers(R"({"r1":2})", "/x") == CpuMemorySum{});  // it is the tenant's own
  CHECK(strangers(R"({"r1":2})", "") == CpuMemorySum{});    // no uid is not another one
  CHECK(strangers(R"({"r1":2})", "another") == default_slices(2));
}

TEST_CASE("pool shares: what a super cluster says counts while the tenant is not connected") {
  TwoTenants stage;
  stage.made_for(kDb, "r1", R"({"r1":5})");
  stage.close();
  CHECK(stage.others("r1") == default_slices(3));
  stage.fold("tenant/bolt", SourceStale{Kind::pod, ""});
  stage.close();
  CHECK(stage.others("r1") == default_slices(5));
  CHECK(stage.totals("r1").says == default_slices(5));
  stage.made_for(kDb, "r1", R"({"r1":1})");
  CHECK(stage.others("r1") == default_slices(3));  // the larger one
  stage.pool().room_grew = false;
  stage.made_for(kDb, "r1", "{}");
  CHECK(stage.pool().room_grew);  // for pods, beside which it counted
  stage.made_for(kDb, "r2", R"({"r1":9})");
  recount_said(stage.state, kDb);
  CHECK(stage.others("r1") == default_slices(3));  // r1 alone speaks of r1
  stage.fold("tenant/bolt", SourceSynced{Kind::pod, "", ""});
  stage.close();
  CHECK(stage.totals("r1").says == CpuMemorySum{});
}

TEST_CASE("pool shares: a limit makes the namespaces of its own tenant wait for each other") {
  PoolStage stage;
  stage.offer("r1", 9);
  stage.tenant("acme", R"({"cpu":"6"})");
  stage.tenant("bolt");
  for (const PoolNamespaceKey& key : {acme("a"), acme("b"), bolt("a")}) stage.want(key, 2);
  stage.want(bolt("b"), 20);
  stage.run();
  CHECK(stage.pool().wanting == std::set{acme("b"), bolt("b")});
  CHECK(stage.reason(acme("b")) == "TenantLimit: cpu");
  set_share(stage.state, bolt("a"), "r1", 1);
  CHECK(stage.pool().dirty_limits.empty());  // bolt has none
  set_share(stage.state, acme("a"), "r1", 1);
  CHECK(stage.pool().dirty_limits == std::set<std::string>{"acme"});
  mark_limited_dirty(stage.pool());
  CHECK(stage.pool().dirty_limits.empty());
  CHECK(stage.pool().dirty_namespaces == std::set{acme("b")});
}

TEST_CASE("pool shares: new slices are cut to a tenant's limit, and a lower one takes none away") {
  for (const bool partial : {false, true}) {
    INFO("partial " << partial);
    Configuration configuration = undamped_pool();
    configuration.pool.partial = partial;
    configuration.pool.tenant_limit = {{"cpu", 4 * kDefaultSlice.cpu}};
    PoolStage stage(configuration);
    stage.offer("r1", 9);
    stage.tenant("acme");
    stage.want(kWeb, 3);
    stage.run();
    stage.quota(kWeb, 5);
    stage.run();
    const std::int64_t slices = partial ? 4 : 3;
    CHECK(stage.placements(kWeb) == SliceMap{{"r1", slices}});
    CHECK(stage.reason(kWeb) == "TenantLimit: cpu");
    stage.tenant("acme", R"({"cpu":"2"})");
    stage.run();
    CHECK(stage.placements(kWeb) == SliceMap{{"r1", slices}});
    stage.quota(kWeb, 2);
    stage.edit(kWeb, R"({"r1":2})");
    stage.run();
    CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}});
    CHECK(stage.of(kWeb).rule == rule::kPoolEdit);  // in one decision, though above the limit
  }
}

}  // namespace
}  // namespace fairlead::pool_tests::shares
