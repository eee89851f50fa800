// Which namespaces room that grew is offered to. What they get is in rounds_test.cpp.
#include "engine/fold/pool/wishes.h"

#include <catch2/catch.hpp>

#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::wishes {
namespace {

const PoolNamespaceKey kWeb = acme("web");

std::set<PoolNamespaceKey> worth(PoolStage& stage) { return WorthDeciding(stage.state).all(); }

TEST_CASE("pool wishes: a namespace is worth deciding where as much is free as it lacks") {
  FullPool stage(4);
  stage.at(10);
  stage.want(acme("two"), 2);
  stage.want(acme("five"), 5);
  stage.run();
  CHECK(worth(stage).empty());
  stage.at(20);
  stage.offer("r2", 1);
  stage.run();
  CHECK(worth(stage).empty());
  stage.pool().clusters.at("r2").accepted = {{"cpu", 4000}, {"memory", 8 * kGi}};
  CHECK(worth(stage) == std::set{acme("two")});
  CHECK(WorthDeciding(stage.state).contains(acme("two")));
  CHECK_FALSE(WorthDeciding(stage.state).contains(acme("five")));
  stage.state.configuration.pool.partial = true;  // one slice is enough
  *stage.pool().wishes = {};
  CHECK(worth(stage) == std::set{acme("two"), acme("five")});
}

TEST_CASE("pool wishes: what depends on more than room is always worth deciding") {
  FullPool stage(4);
  stage.at(10);
  stage.quota(kWeb, 6);  // it holds 4 and wants 2 more
  stage.run();
  CHECK(worth(stage).empty());
  stage.at(20);
  stage.pod(kWeb, "p", pod_bound_in("r1", 9000, kGi));  // beyond its slices
  stage.run();
  CHECK(worth(stage) == std::set{kWeb});
  stage.gone("tenant/acme", {Kind::pod, "web", "p"});
  stage.run();
  CHECK(worth(stage).empty());
  stage.at(30);
  stage.lose("r1");
  stage.run();
  stage.at(30 + 600);
  stage.close();  // its slices should move now
  CHECK(worth(stage) == std::set{kWeb});
}

TEST_CASE("pool wishes: a copy of State, which has no index, is decided alike") {
  FullPool stage(4);
  stage.at(10);
  stage.want(acme("two"), 2);
  stage.run();
  PoolStage copy = stage;
  CHECK_FALSE(copy.pool().wishes->derived);
  for (PoolStage* each : {static_cast<PoolStage*>(&stage), &copy}) {
    each->at(20);
    each->offer("r2", 2);
    each->run();
    CHECK(each->placements(acme("two")) == SliceMap{{"r2", 2}});
    CHECK(worth(*each).empty());
  }
}

TEST_CASE("pool wishes: a tenant that was not connected for a while keeps its turn") {
  FullPool stage(2);
  stage.at(10);
  stage.want(bolt("early"), 2);
  stage.run();
  stage.at(20);
  stage.want(acme("late"), 2);
  stage.run();
  stage.at(30);
  stage.fold("tenant/bolt", SourceStale{Kind::pod, ""});
  stage.run();
  CHECK(stage.pool().wanting == std::set{acme("late")});
  stage.at(40);
  stage.fold("tenant/bolt", SourceSynced{Kind::pod, "", ""});
  stage.run();
  CHECK(stage.of(bolt("early")).wants_since == second(10));
  stage.at(50);
  stage.quota(kWeb, 0);
  stage.run();
  CHECK(stage.placements(bolt("early")) == SliceMap{{"r1", 2}});
  CHECK(stage.placements(acme("late")).empty());
}

}  // namespace
}  // namespace fairlead::pool_tests::wishes
