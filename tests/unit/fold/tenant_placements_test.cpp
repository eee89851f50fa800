// What of a tenant's placements is taken over, what counts as an edit of them, and what bounds or
// ends them.
#include <catch2/catch.hpp>

#include "engine/fold/pool/tenants.h"
#include "schema/write_rule.h"
#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::tenant_placements {
namespace {

const PoolNamespaceKey kWeb = acme("web");

struct TwoClusters : PoolStage {
  explicit TwoClusters(const Configuration& configuration = undamped_pool())
      : PoolStage(configuration) {
    offer("r1", 10);
    offer("r2", 10);
  }
};

TEST_CASE(
    "pool tenants: the first list stays as it is within the limit, what is later is an edit") {
  TwoClusters stage;
  stage.tenant("acme", R"({"cpu":"28"})");  // 14 slices
  stage.placed(kWeb, {{"r1", 11}});
  stage.placed(acme("xyz"), {{"r9", 5}});
  stage.lose("r2");  // so that nothing moves
  stage.close();
  CHECK(stage.of(kWeb).rule == rule::kPoolFirstSight);
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 11}});
  CHECK(stage.placements(acme("xyz")) == SliceMap{{"r9", 3}});  // namespaces by name
  stage.quota(kWeb, 1);
  stage.quota(acme("xyz"), 1);
  stage.run();
  stage.fold("tenant/acme", SourceSynced{Kind::pod, "", ""});  // a later list
  stage.placed(acme("late"), {{"r1", 4}, {"r9", 1}});
  stage.close();
  CHECK(stage.placements(acme("late")) == SliceMap{{"r1", 5}});  // no slice is new on r9
  CHECK(stage.of(acme("late")).rule == rule::kPoolEdit);
}

TEST_CASE("pool tenants: its own limit beats the default one unless it cannot be read") {
  Configuration configuration = undamped_pool();
  configuration.pool.tenant_limit = {{"memory", 4 * kGi}};
  TwoClusters stage(configuration);
  const auto limit = [&](const std::optional<std::string>& own) {
    stage.tenant("acme", own);
    stage.close();
    return stage.pool().tenants.at("acme").limit;
  };
  using Limit = std::map<std::string, Amount>;
  CHECK(limit(std::nullopt) == Limit{{"memory", 4 * kGi}});
  CHECK(limit(R"({"cpu":"1500m"})") == Limit{{"cpu", 1500}});
  CHECK(limit("{}").empty());
  CHECK(limit(R"({"gpu":"1"})") == Limit{{"memory", 4 * kGi}});
}

TEST_CASE("pool tenants: placements that were written here are no edit when they are observed") {
  TwoClusters stage;
  stage.tenant("acme");
  stage.want(kWeb, 2);
  stage.close();
  const NamespaceFacts facts = stage.intend_placements(kWeb, R"({"r1":2})");
  CHECK(stage.pool().unwritten.empty());
  stage.at(1);
  stage.quota(kWeb, 3);  // the decision is another when the write is observed
  stage.close();
  stage.space(kWeb, facts);
  stage.close();
  CHECK(stage.of(kWeb).edited == PlacementEdit::none);
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 3}});
  CHECK(stage.of(kWeb).rule == rule::kPoolPlace);
}

TEST_CASE("pool tenants: with its VirtualCluster a tenant and all that it holds are gone") {
  TwoClusters stage;
  stage.tenant("acme");
  stage.want(kWeb, 2);
  stage.pod(kWeb, "p", pod_bound_in("r1", 1000, kGi));
  stage.pod(kWeb, "waits", pod_asking(90'000, kGi));
  stage.made_for(kWeb, "r1", R"({"r1":2})");
  stage.run();
  CHECK(stage.pool().totals.at("r1").strangers == CpuMemorySum{});
  stage.gone(std::string(kHub), {Kind::virtual_cluster, "tenants", "acme"});
  stage.close();
  CHECK_FALSE(stage.pool().tenants.contains("acme"));
  const PoolTotals& totals = stage.pool().totals.at("r1");
  CHECK(totals.held == CpuMemorySum{});
  CHECK(totals.pods.empty());
  CHECK(stage.pool().waiting.empty());
  CHECK(totals.strangers == CpuMemorySum{4000, 8 * kGi});  // its syncer's namespace is still there
}

TEST_CASE("pool tenants: a Namespace that is made anew begins without placements") {
  TwoClusters stage;
  stage.tenant("acme");
  stage.want(kWeb, 2);
  stage.run();
  stage.offer("r2", 3);  // packs better now
  stage.observe("tenant/acme", {Kind::namespace_, "", "web"}, NamespaceFacts{}, "another uid");
  stage.close();
  CHECK(stage.placements(kWeb) == SliceMap{{"r2", 2}});
  CHECK(stage.of(kWeb).seen->uid == "another uid");
}

}  // namespace
}  // namespace fairlead::pool_tests::tenant_placements
