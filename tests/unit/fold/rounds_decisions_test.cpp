// What one decision about a namespace does with an edit, with slices of a new size, and with its
// tenant's limit. How its slices are divided is in division_of_slices_test.cpp.
#include <catch2/catch.hpp>

#include "schema/write_rule.h"
#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::rounds_decisions {
namespace {

const PoolNamespaceKey kWeb = acme("web");

TEST_CASE("pool rounds: an edit decides what a smaller quota leaves where, not a reduction") {
  PoolStage stage;
  stage.offer("r1", 2);
  stage.offer("r2", 2);
  stage.tenant("acme");
  stage.want(kWeb, 4);
  stage.run();
  stage.at(10);
  stage.want(acme("b"), 2);
  stage.run();
  stage.at(20);
  stage.quota(kWeb, 2);
  stage.edit(kWeb, R"({"r1":2})");
  stage.run();
  // A reduction to one on each would have let b take the rest of r1 first.
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}});
  CHECK(stage.of(kWeb).rule == rule::kPoolEdit);
  CHECK(stage.placements(acme("b")) == SliceMap{{"r2", 2}});
}

TEST_CASE("pool rounds: slices of a new size come into force together, once all of them fit") {
  FullPool stage(4);
  NamespaceFacts facts = stage.of(kWeb).seen->facts;
  facts.slice = R"({"cpu":"3","memory":"16Gi"})";  // three of them: 48Gi, of which r1 has 16Gi
  stage.at(10);
  stage.space(kWeb, facts);
  stage.run();
  CHECK(stage.of(kWeb).unit == kDefaultSlice);
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 4}});
  CHECK(stage.of(kWeb).shares.at("r1").grown == second(0));  // was not reduced to three meanwhile
  CHECK(stage.reason(kWeb) == "DoesNotFit: 3 more slices of cpu 3, memory 16Gi");
  stage.at(20);
  stage.offer("r2", 7);
  stage.run();
  CHECK(stage.of(kWeb).unit == kDefaultSlice);  // r1 and r2 have room for one each
  stage.at(30);
  stage.offer("r2", 8);
  stage.run();
  const CpuMemory unit{3000, 16 * kGi};
  CHECK(stage.of(kWeb).unit == unit);
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 1}, {"r2", 2}});
  CHECK(stage.of(kWeb).rule == rule::kPoolSlice);
  for (const auto& [id, share] : stage.of(kWeb).shares) CHECK(share.grown == second(30));
  // Where no slice is held the new size just comes into force.
  stage.want(acme("empty"), 99);
  stage.run();
  stage.space(acme("empty"), facts);
  stage.run();
  CHECK(stage.of(acme("empty")).unit == unit);
}

TEST_CASE("pool rounds: slices of a new size do not pass the tenant's limit") {
  FullPool stage(2);
  stage.offer("r2", 20);
  stage.tenant("acme", R"({"cpu":"4"})");
  NamespaceFacts facts = stage.of(kWeb).seen->facts;
  facts.slice = R"({"cpu":"3","memory":"4Gi"})";  // two of them: 6 cpu
  stage.space(kWeb, facts);
  stage.run();
  CHECK(stage.of(kWeb).unit == kDefaultSlice);
  CHECK(stage.reason(kWeb) == "TenantLimit: cpu");
}

TEST_CASE("pool rounds: cleared placements leave an away cluster, and a void edit moves nothing") {
  FullPool stage(2);
  stage.edit(kWeb, R"({"r7":2})");
  stage.run();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}});
  CHECK(stage.of(kWeb).rule == rule::kPoolEdit);  // of the write that puts it right
  stage.at(10);
  stage.offer("r2", 2);
  stage.lose("r1");
  stage.run();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}});
  stage.edit(kWeb, "{}");
  stage.run();
  CHECK(stage.placements(kWeb) == SliceMap{{"r2", 2}});
}

}  // namespace
}  // namespace fairlead::pool_tests::rounds_decisions
