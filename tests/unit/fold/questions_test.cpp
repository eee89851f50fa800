// The numbers that an administrator gets about a namespace are those by which it is decided.
#include "engine/fold/pool/questions.h"

#include <catch2/catch.hpp>

#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::questions {
namespace {

const PoolNamespaceKey kWeb = acme("web");

struct AskedPool : PoolStage {
  AskedPool() {
    offer("r1", 6);
    offer("r2", 2);
    tenant("acme");
    placed(kWeb, {{"r1", 3}, {"r9", 1}});
    placed(acme("other"), {{"r1", 1}});
    run();
  }
  std::vector<ClusterForNamespace> rows() { return clusters_for(state, of(kWeb)); }
};

TEST_CASE("pool questions: a row for each super cluster and each id that is listed") {
  AskedPool stage;
  const auto rows = stage.rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].id == "r1");
  CHECK(rows[0].cluster == "r1");
  CHECK(rows[0].standing == ClusterStanding::open);
  CHECK(rows[0].slices == 3);
  CHECK(rows[0].usable == CpuMemory{12'000, 24 * kGi});
  CHECK(rows[0].others == CpuMemorySum{2000, 4 * kGi});
  CHECK(rows[0].room == 5);
  CHECK(rows[0].short_of.empty());
  CHECK(rows[1].id == "r2");
  CHECK(rows[1].slices == 0);
  CHECK_FALSE(rows[1].listed);
  CHECK(rows[1].room == 2);
  CHECK(rows[2].id == "r9");
  CHECK(rows[2].cluster.empty());
  CHECK(rows[2].standing == ClusterStanding::away);
  CHECK(rows[2].listed);
  CHECK_FALSE(rows[2].usable);
  CHECK(rows[2].room == 0);
  CHECK(rows[2].short_of == "cpu");
}

TEST_CASE("pool questions: what is short is the first dimension in which no slice more fits") {
  AskedPool stage;
  set_share(stage.state, acme("other"), "r1", 2);
  CHECK(stage.rows()[0].short_of.empty());  // 3 + 1 + 2 = 6
  set_share(stage.state, acme("other"), "r1", 3);
  CHECK(stage.rows()[0].short_of == "cpu");
  set_unit(stage.state, acme("other"), {1, 4 * kGi});
  CHECK(stage.rows()[0].short_of == "memory");
  stage.lose("r1");
  stage.close();
  CHECK(stage.rows()[0].room == 0);
  CHECK(stage.rows()[0].usable == CpuMemory{12'000, 24 * kGi});  // the last values stay
}

TEST_CASE("pool questions: expected slices count in the unit in force, or in the one asked for") {
  AskedPool stage;
  CHECK(slice_of(stage.of(kWeb)) == kDefaultSlice);
  CHECK(expected_slices(stage.state.configuration, stage.of(kWeb)) == 4);
  stage.quota(acme("other"), 3);
  stage.run();
  NamespaceFacts facts = stage.of(kWeb).seen->facts;
  facts.slice = R"({"cpu":"4","memory":"16Gi"})";  // two of them fit nowhere
  stage.space(kWeb, facts);
  stage.close();
  CHECK(slice_of(stage.of(kWeb)) == kDefaultSlice);
  CHECK(expected_slices(stage.state.configuration, stage.of(kWeb)) == 4);
  facts.placements.reset();
  stage.space(acme("idle"), facts);  // has no quota
  stage.close();
  CHECK(slice_of(stage.of(acme("idle"))) == CpuMemory{4000, 16 * kGi});
  CHECK(expected_slices(stage.state.configuration, stage.of(acme("idle"))) == 0);
  facts.slice = "nonsense";
  stage.space(acme("bad"), facts);
  stage.quota(acme("bad"), 1);
  stage.close();
  CHECK_FALSE(slice_of(stage.of(acme("bad"))));
  CHECK(expected_slices(stage.state.configuration, stage.of(acme("bad"))) == 0);
}

TEST_CASE("pool questions: a standing is printed by its name") {
  CHECK(std::string(standing_name(ClusterStanding::open)) == "open");
  CHECK(std::string(standing_name(ClusterStanding::closed)) == "closed");
  CHECK(std::string(standing_name(ClusterStanding::away)) == "away");
  CHECK(std::string(standing_name(ClusterStanding::gone)) == "gone");
}

}  // namespace
}  // namespace fairlead::pool_tests::questions
