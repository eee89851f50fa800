// The close of a moment of the pool: what is taken up, which objects are to be written, and when
// what a write keeps back is looked at again.
#include "engine/fold/pool/pool_close.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "engine/fold/pool/membership.h"
#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::close {
namespace {

const PoolNamespaceKey kWeb = acme("web");

struct WebPool : PoolStage {
  WebPool() {
    offer("r1", 9);
    tenant("acme");
    want(kWeb, 2);
  }
};

TEST_CASE("pool close: the order of the facts of one moment does not matter") {
  using Change = std::function<void(PoolStage&)>;
  std::vector<std::pair<int, Change>> changes = {
      {0, [](PoolStage& stage) { stage.offer("r2", 3); }},
      {1, [](PoolStage& stage) { stage.quota(kWeb, 1); }},
      {2, [](PoolStage& stage) { stage.want(acme("a"), 8); }},
      {3, [](PoolStage& stage) { stage.pod(kWeb, "p", pod_asking(1000, kGi)); }},
  };
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  do {
    WebPool stage;
    stage.run();
    stage.at(10);
    for (const auto& [number, change] : changes) change(stage);
    stage.run();
    CHECK(stage.placements(kWeb) == SliceMap{{"r1", 1}});
    CHECK(stage.placements(acme("a")) == SliceMap{{"r1", 8}});
    CHECK(stage.pod_of(kWeb, "p").cluster == "r1");
  } while (std::next_permutation(changes.begin(), changes.end(),
                                 [](const auto& a, const auto& b) { return a.first < b.first; }));
}

TEST_CASE("pool close: a namespace is taken up with a quota and once a slice of it can be read") {
  WebPool stage;
  NamespaceFacts facts;
  facts.slice = "2 cpus";
  facts.placements = "nonsense";
  stage.space(acme("bad"), facts);
  stage.run();
  CHECK_FALSE(stage.of(acme("bad")).taken_up);
  CHECK(stage.reason(acme("bad")).empty());
  stage.quota(acme("bad"), 1);
  stage.at(10);
  stage.close();
  CHECK_FALSE(stage.of(acme("bad")).taken_up);
  CHECK(stage.reason(acme("bad")) == "BadSlice");
  stage.run();
  CHECK(stage.of(acme("bad")).seen->facts.placements == "nonsense");  // it is left alone
  facts = stage.of(acme("bad")).seen->facts;
  facts.slice.reset();
  stage.space(acme("bad"), facts);
  stage.close();
  CHECK(stage.of(acme("bad")).taken_up);
  CHECK(stage.placements(acme("bad")) == SliceMap{{"r1", 1}});
}

TEST_CASE("pool close: a namespace without a quota is left alone, reason and all") {
  WebPool stage;
  NamespaceFacts facts;
  stage.space(acme("idle"), facts);
  facts.reason = "DoesNotFit: by hand";
  stage.space(acme("idle"), facts);
  stage.close();
  CHECK_FALSE(namespace_differs(stage.state.configuration, stage.of(acme("idle"))));
  CHECK(stage.dirty.pool_namespaces == std::set{kWeb});
}

TEST_CASE("pool close: a Namespace is written while what is there is not what was decided") {
  WebPool stage;
  stage.close();
  const auto differs = [&] { return namespace_differs(stage.state.configuration, stage.of(kWeb)); };
  CHECK(differs());
  CHECK(stage.dirty.pool_namespaces == std::set{kWeb});
  CHECK(stage.pool().unwritten == std::set{kWeb});
  stage.run();
  CHECK_FALSE(differs());
  CHECK(stage.pool().unwritten.empty());
  stage.edit(kWeb, R"({ "r1" : 2 })");  // the same value
  stage.close();
  CHECK_FALSE(differs());
  for (const char* other : {"nonsense", "{}", R"({"r1":2,"r2":0})"}) {
    INFO(other);
    stage.edit(kWeb, other);
    stage.close();
    CHECK(differs());
    CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}});
    stage.run();
  }
  NamespaceFacts facts = stage.of(kWeb).seen->facts;
  facts.deleting = true;
  stage.space(kWeb, facts);
  stage.quota(kWeb, 1);
  stage.close();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}});  // it takes no part
  CHECK(stage.dirty.pool_namespaces.empty());
}

TEST_CASE("pool close: a pod is written unless it is bound, over or being deleted") {
  PoolPod pod;
  pod.cluster = "r1";
  CHECK(pod_differs(pod));
  CHECK(super_cluster_of(pod) == "r1");
  for (bool PodFacts::* state : {&PodFacts::bound, &PodFacts::over, &PodFacts::deleting}) {
    pod.seen.facts.*state = true;
    CHECK_FALSE(pod_differs(pod));
    pod.seen.facts.*state = false;
  }
  pod.seen.facts.super_cluster = "r1";
  CHECK_FALSE(pod_differs(pod));
  pod.seen.facts.reason = "DoesNotFit: old";
  CHECK(pod_differs(pod));
  pod.cluster.clear();
  CHECK(super_cluster_of(pod) == "r1");  // as observed
}

TEST_CASE(
    "pool close: while the write interval keeps a Namespace back its pods do not wait for it") {
  WebPool stage;
  stage.offer("r1", 2);
  stage.offer("r2", 9);
  stage.close();
  const NamespaceFacts facts = stage.intend_placements(kWeb, R"({"r1":2})");
  const Seq sent = stage.state.seq;
  stage.at(1);
  stage.quota(kWeb, 3);
  stage.close();
  CHECK(stage.pool().unwritten.empty());  // there is no answer yet
  CHECK(stage.pool().due.empty());
  stage.fold(std::string(kSelf), PatchAccepted{sent, 200, "/web", ""});
  stage.space(kWeb, facts);
  stage.pod(kWeb, "p", pod_asking(1000, kGi));
  stage.close();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}, {"r2", 1}});
  CHECK(stage.dirty.pool_namespaces == std::set{kWeb});
  CHECK(stage.pool().unwritten.empty());
  CHECK(stage.pool().due.contains({second(5), key_of_namespace(kWeb)}));
  CHECK(stage.pod_of(kWeb, "p").cluster == "r1");  // r2 is not written yet
  stage.at(5);
  stage.close();
  CHECK(stage.pool().unwritten == std::set{kWeb});
}

}  // namespace
}  // namespace fairlead::pool_tests::close
