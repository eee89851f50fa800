// The order in which a moment decides namespaces, and what a round takes away. What one decision
// does is in rounds_decisions_test.cpp.
#include "engine/fold/pool/rounds.h"

#include <catch2/catch.hpp>

#include "schema/write_rule.h"
#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::rounds {
namespace {

const PoolNamespaceKey kWeb = acme("web");

TEST_CASE("pool rounds: room goes to the namespace that has wanted it for longest, then by name") {
  FullPool stage(4);
  stage.at(10);
  stage.want(acme("y"), 2);
  stage.run();
  stage.at(20);
  stage.want(acme("x"), 2);
  stage.want(bolt("a"), 2);
  stage.run();
  CHECK(stage.pool().wanting == std::set{acme("y"), acme("x"), bolt("a")});
  stage.at(30);
  stage.quota(kWeb, 2);
  stage.run();
  CHECK(stage.placements(acme("y")) == SliceMap{{"r1", 2}});
  CHECK(stage.placements(acme("x")).empty());
  stage.at(40);
  stage.quota(kWeb, 0);
  stage.run();
  CHECK(stage.placements(acme("x")) == SliceMap{{"r1", 2}});
  CHECK(stage.placements(bolt("a")).empty());
}

TEST_CASE("pool rounds: a namespace that stops wanting slices waits anew") {
  FullPool stage(2);
  stage.at(10);
  stage.want(acme("b"), 2);
  stage.run();
  CHECK(stage.of(acme("b")).wants_since == second(10));
  stage.at(15);
  stage.quota(acme("b"), 0);
  stage.run();
  CHECK_FALSE(stage.of(acme("b")).wants_since);
  stage.at(20);
  stage.want(acme("c"), 2);
  stage.run();
  stage.at(25);
  stage.quota(acme("b"), 2);
  stage.run();
  CHECK(stage.of(acme("b")).wants_since == second(25));
  stage.at(30);
  stage.quota(kWeb, 0);
  stage.run();
  CHECK(stage.placements(acme("c")) == SliceMap{{"r1", 2}});
  CHECK(stage.placements(acme("b")).empty());
}

TEST_CASE("pool rounds: slices of a cluster that is gone move before others get new ones") {
  FullPool stage(2);
  stage.offer("r2", 2);
  stage.want(acme("other"), 2);
  stage.run();
  stage.at(10);
  stage.want(acme("b"), 2);
  stage.run();
  stage.at(20);
  stage.lose("r1");
  stage.run();
  stage.at(700);  // lostGrace ended at 620, when r2 was full
  stage.quota(acme("other"), 0);
  stage.run();
  CHECK(stage.placements(kWeb) == SliceMap{{"r2", 2}});
  CHECK(stage.of(kWeb).rule == rule::kPoolMove);
  CHECK(stage.placements(acme("b")).empty());
}

TEST_CASE("pool rounds: a reduction names the quota as its cause, and frees room at once") {
  FullPool stage(4);
  stage.want(acme("b"), 1);
  stage.run();
  stage.at(10);
  stage.quota(kWeb, 3);
  stage.close();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 3}});
  CHECK(stage.of(kWeb).rule == rule::kPoolReduce);
  CHECK(stage.of(kWeb).causes.back() == stage.of(kWeb).quotas.at("q").seq);
  CHECK(stage.placements(acme("b")) == SliceMap{{"r1", 1}});
  CHECK(stage.of(acme("b")).rule == rule::kPoolPlace);
  CHECK(stage.dirty.pool_namespaces == std::set{kWeb, acme("b")});
}

TEST_CASE("pool rounds: without a quota all is released, pods keep a 0, and an edit is void") {
  FullPool stage(2);
  stage.offer("r2", 2);
  stage.pod(kWeb, "p", pod_bound_in("r1", 1000, kGi));
  stage.run();
  stage.at(10);
  stage.gone("tenant/acme", {Kind::resource_quota, "web", "q"});
  stage.edit(kWeb, R"({"r2":2})");
  stage.close();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 0}});
  CHECK(stage.of(kWeb).rule == rule::kPoolRelease);
  CHECK(stage.of(kWeb).edited == PlacementEdit::none);
  CHECK(stage.of(kWeb).edit.empty());
  stage.run();
  stage.at(20);
  stage.gone("tenant/acme", {Kind::pod, "web", "p"});
  stage.close();
  CHECK(stage.placements(kWeb).empty());
  CHECK(stage.of(kWeb).taken_up);  // {} is not written yet
  stage.run();
  CHECK_FALSE(stage.of(kWeb).taken_up);
}

TEST_CASE("pool rounds: a 0 leaves the placements with the last pod there") {
  FullPool stage(2);
  stage.offer("r2", 2);
  for (const char* name : {"p", "q"}) stage.pod(kWeb, name, pod_bound_in("r1", 1000, kGi));
  stage.run();
  stage.at(10);
  stage.edit(kWeb, R"({"r2":2})");
  stage.run();
  stage.gone("tenant/acme", {Kind::pod, "web", "p"});
  stage.run();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 0}, {"r2", 2}});
  stage.gone("tenant/acme", {Kind::pod, "web", "q"});
  stage.run();
  CHECK(stage.placements(kWeb) == SliceMap{{"r2", 2}});
  CHECK(stage.of(kWeb).rule == rule::kPoolDrained);
}

TEST_CASE("pool rounds: an edit that is void because nothing is asked for is a release") {
  FullPool stage(2);
  stage.at(10);
  NamespaceFacts facts;
  facts.placements = R"({"r1":4})";
  stage.space(acme("late"), facts);
  stage.quota(acme("late"), 0);
  stage.run();
  CHECK(stage.placements(acme("late")).empty());
  CHECK(stage.of(acme("late")).rule == rule::kPoolRelease);
}

TEST_CASE("pool rounds: they note where pods find more, and leave what they visited to be closed") {
  FullPool stage(2);
  std::set<std::string>& roomier = stage.pool().roomier;
  run_pool_rounds(stage.state);
  CHECK(roomier.empty());
  CHECK(stage.pool().dirty_namespaces.empty());
  stage.of(kWeb).quotas.at("q").facts.hard = {{"cpu", 2000}, {"memory", 4 * kGi}};
  stage.pool().dirty_namespaces = {kWeb};
  run_pool_rounds(stage.state);
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 1}});
  CHECK(stage.pool().dirty_namespaces == std::set{kWeb});
  CHECK(std::exchange(roomier, {}) == std::set<std::string>{"r1"});
  run_pool_rounds(stage.state);  // a second look changes nothing
  CHECK(roomier.empty());
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 1}});
}

}  // namespace
}  // namespace fairlead::pool_tests::rounds
