// Which pods wait for a super cluster, which of them goes first, and where it goes. Their reasons
// are in reasons_test.cpp.
#include "engine/fold/pool/pods.h"

#include <catch2/catch.hpp>

#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::pods {
namespace {

const PoolNamespaceKey kWeb = acme("web");
const std::string kNic = "example.com/nic";

// r1 and r2 offer ten slices each, of which acme/web has those of `slices`.
struct PlacedPool : PoolStage {
  explicit PlacedPool(const SliceMap& slices) {
    offer("r1", 10);
    offer("r2", 10);
    tenant("acme");
    tenant("bolt");
    placed(kWeb, slices);
    run();
  }
  const std::string& cluster_of(const std::string& name) { return pod_of(kWeb, name).cluster; }
  std::string reason_of(const std::string& name) {
    return value_of(pod_of(kWeb, name).reason).current;
  }
};

TEST_CASE("pool pods: a pod waits while nothing but a cluster is missing") {
  const PodFacts base = pod_asking(90'000, kGi);  // so much that it finds no place
  const auto with = [&](auto&& change) {
    PodFacts facts = base;
    change(facts);
    return facts;
  };
  struct Row {
    const char* what;
    PodFacts facts;
    bool waits;
  };
  const Row rows[] = {
      {"it has no cluster", base, true},
      {"it has one that is listed", with([](PodFacts& pod) { pod.super_cluster = "r1"; }), false},
      {"it has one that is not", with([](PodFacts& pod) { pod.super_cluster = "r2"; }), true},
      {"it is bound", with([](PodFacts& pod) { pod.bound = true; }), false},
      {"it is gated", with([](PodFacts& pod) { pod.gated = true; }), false},
      {"it is over", with([](PodFacts& pod) { pod.over = true; }), false},
      {"it is being deleted", with([](PodFacts& pod) { pod.deleting = true; }), false},
  };
  PlacedPool stage({{"r1", 2}});
  std::int64_t time = 10;
  for (const Row& row : rows) {
    INFO(row.what);
    stage.at(time++);
    stage.pod(kWeb, "p", row.facts);
    stage.run();
    CHECK(stage.pod_of(kWeb, "p").waits_since.has_value() == row.waits);
    CHECK(stage.pool().waiting.contains(kWeb) == row.waits);
    CHECK(stage.of(kWeb).waiting.size() == (row.waits ? 1 : 0));
  }
  stage.pod(kWeb, "p", base);
  stage.gone("tenant/acme", {Kind::resource_quota, "web", "q"});  // it is in the pool no more
  stage.run();
  CHECK_FALSE(stage.pod_of(kWeb, "p").waits_since);
}

TEST_CASE("pool pods: the pod that has waited for longest goes first, then by names") {
  PlacedPool stage({{"r1", 4}});
  stage.placed(bolt("db"), {{"r1", 4}});
  stage.run();
  PodFacts facts;
  facts.requests = {{"cpu", 1000}, {"memory", kGi}, {kNic, 1}};
  const auto placed = [&] {
    std::string names;
    for (const auto& [home, name] : {std::pair{bolt("db"), "z"}, std::pair{kWeb, "a"},
                                     std::pair{kWeb, "b"}, std::pair{bolt("db"), "a"}})
      if (!stage.pod_of(home, name).cluster.empty()) names += home.second + "/" + name + " ";
    return names;
  };
  stage.at(10);
  stage.pod(bolt("db"), "z", facts);
  stage.run();
  stage.at(20);
  stage.pod(bolt("db"), "a", facts);
  stage.pod(kWeb, "b", facts);
  stage.pod(kWeb, "a", facts);
  stage.run();
  CHECK(placed().empty());
  const std::string order[] = {"db/z ", "web/a ", "web/b ", "db/a "};
  std::string names;
  for (std::int64_t nics = 1; nics <= 4; ++nics) {
    stage.at(20 + 10 * nics);
    stage.offer("r1", 10, {{kNic, nics}});
    stage.run();
    CHECK(placed() == (names += order[nics - 1]));
  }
  stage.pod(kWeb, "late", facts);
  stage.run();
  CHECK(stage.cluster_of("late").empty());
  stage.gone("tenant/bolt", {Kind::pod, "db", "z"});  // what it had is free
  stage.run();
  CHECK(stage.cluster_of("late") == "r1");
}

TEST_CASE("pool pods: a pod that finds no place does not keep out the smaller one behind it") {
  PlacedPool stage({{"r1", 2}});
  stage.at(10);
  stage.pod(kWeb, "big", pod_asking(4001, kGi));
  stage.pod(kWeb, "wide", pod_asking(1, 8 * kGi + 1));
  stage.run();
  stage.at(20);
  stage.pod(kWeb, "exact", pod_asking(4000, 8 * kGi));
  stage.close();
  CHECK(stage.cluster_of("big").empty());
  CHECK(stage.cluster_of("wide").empty());
  CHECK(stage.cluster_of("exact") == "r1");
  CHECK(stage.dirty.pool_pods.contains(pod_in(kWeb, "exact")));
  stage.pod(kWeb, "crumb", pod_asking(1, 1));
  stage.run();
  CHECK(stage.reason_of("crumb") == "DoesNotFit: cpu 1m, memory 1");
}

TEST_CASE("pool pods: a pod goes where one node could hold it alone, whatever runs there") {
  PlacedPool stage({{"r1", 10}});
  const auto node = [&](const std::string& name, Amount cpu, Amount memory, bool ready = true) {
    NodeFacts facts;
    facts.ready = ready;
    facts.allocatable = {{"cpu", cpu}, {"memory", memory}};
    stage.observe("r1", {Kind::node, "", name}, facts);
  };
  stage.at(10);
  node("n1", 5000, 20 * kGi);  // 20 cpu and 40Gi in all, as before
  node("n2", 5000, 4 * kGi);
  node("n3", 10'000, 16 * kGi, false);
  node("n4", 10'000, 16 * kGi);
  stage.pod(kWeb, "held", pod_asking(5000, 20 * kGi));
  stage.run();
  CHECK(stage.cluster_of("held") == "r1");
  stage.at(20);
  node("n4", 10'000, 4 * kGi);
  node("n1", 5000, 32 * kGi);  // so that the slices still fit
  stage.pod(kWeb, "wide", pod_asking(6000, 5 * kGi));
  stage.run();
  CHECK(stage.cluster_of("wide").empty());
  CHECK(stage.reason_of("wide") == "DoesNotFit: cpu 6, memory 5Gi");
  CHECK(fit_of_pod(stage.state, pod_in(kWeb, "wide"), "r1").lacking == kNoNodeHolds);
  stage.at(30);
  node("n2", 6000, 4 * kGi);  // not enough memory
  stage.run();
  CHECK(stage.cluster_of("wide").empty());
  stage.at(40);
  node("n3", 10'000, 16 * kGi);  // it is ready now
  stage.run();
  CHECK(stage.cluster_of("wide") == "r1");
}

TEST_CASE("pool pods: a fall of the largest node wakes no pod, its growth those that wait there") {
  PlacedPool stage({{"r1", 4}, {"r2", 4}});
  stage.pod(kWeb, "p", pod_asking(90'000, kGi));
  stage.run();
  const auto grew = [&](const std::string& id) { return stage.pool().clusters.at(id).nodes_grew; };
  const auto changed = [&](const std::string& id) {
    return stage.pool().clusters.at(id).nodes_seq;
  };
  const Seq grew_before = grew("r1"), changed_before = changed("r1"), other = changed("r2");
  stage.at(10);
  stage.offer("r1", 9);
  stage.run();
  CHECK(grew("r1") == grew_before);
  CHECK(changed("r1") > changed_before);
  stage.at(20);
  stage.offer("r1", 11);
  stage.run();
  CHECK(grew("r1") > changed_before);
  CHECK(changed("r2") == other);
}

TEST_CASE(
    "pool pods: pack takes the smallest share left of cpu, then of memory, spread the largest") {
  struct Row {
    const char* what;
    SliceMap slices;
    PodFacts in_r1;
    const char* pack;
    const char* spread;
  };
  const Row rows[] = {
      {"less cpu in r2", {{"r1", 2}, {"r2", 1}}, pod_bound_in("r1", 1, 1), "r2", "r1"},
      {"less cpu in r1", {{"r1", 2}, {"r2", 2}}, pod_bound_in("r1", 1, 1), "r1", "r2"},
      {"equal cpu, less memory in r2",
       {{"r1", 2}, {"r2", 1}},
       pod_bound_in("r1", 2000, kGi),
       "r2",
       "r1"},
      {"all is equal", {{"r1", 2}, {"r2", 1}}, pod_bound_in("r1", 2000, 4 * kGi), "r1", "r1"},
  };
  for (const Row& row : rows)
    for (const std::string policy : {"pack", "spread"}) {
      INFO(row.what << ", " << policy);
      PlacedPool stage(row.slices);
      NamespaceFacts facts = stage.of(kWeb).seen->facts;
      facts.policy = policy;
      stage.space(kWeb, facts);
      stage.pod(kWeb, "there", row.in_r1);
      stage.pod(kWeb, "p", pod_asking(500, kGi));
      stage.run();
      CHECK(stage.cluster_of("p") == (policy == "pack" ? row.pack : row.spread));
    }
}

TEST_CASE("pool pods: the machine must hold a pod beside all others and what strangers say") {
  PlacedPool stage({{"r1", 10}});
  stage.placed(bolt("db"), {{"r2", 10}});  // so that no slice leaves r1
  stage.made_for(acme("x"), "r1", R"({"r1":3})");
  stage.pod(kWeb, "p", pod_asking(14'001, kGi));
  stage.run();
  const PoolPodKey key = pod_in(kWeb, "p");
  PodFit fit = fit_of_pod(stage.state, key, "r1");
  CHECK(fit.left.cpu == 20'000);
  CHECK(fit.free.at("cpu") == 14'000);
  CHECK(fit.lacking == "cpu");
  CHECK(stage.reason_of("p").starts_with("DoesNotFit: "));
  stage.pod(kWeb, "p", pod_asking(14'000, kGi));
  stage.run();
  CHECK(stage.cluster_of("p") == "r1");
  fit = fit_of_pod(stage.state, key, "r1");
  CHECK(fit.left.cpu == 20'000);  // its own request does not count
  CHECK(fit.free.at("cpu") == 14'000);
  CHECK(fit.lacking.empty());
}

TEST_CASE("pool pods: a pod is placed once its namespace's placements were observed") {
  PlacedPool stage({{"r1", 1}});
  stage.at(10);
  stage.want(acme("new"), 1);
  stage.pod(acme("new"), "p", pod_asking(1000, kGi));
  stage.pod(kWeb, "p", pod_asking(1000, kGi));
  stage.close();
  CHECK(stage.placements(acme("new")) == SliceMap{{"r1", 1}});
  CHECK(stage.pool().unwritten == std::set{acme("new")});
  CHECK(stage.pod_of(acme("new"), "p").cluster.empty());
  CHECK(stage.cluster_of("p").empty());  // else it would go before pods that waited longer
  stage.run();
  CHECK(stage.pod_of(acme("new"), "p").cluster == "r1");
  CHECK(stage.cluster_of("p") == "r1");
}

TEST_CASE("pool pods: not even a pod without requests goes where its namespace has 0 slices") {
  PlacedPool stage({{"r1", 1}});
  PodFacts there;
  there.super_cluster = "r1";
  there.bound = true;
  stage.pod(kWeb, "there", there);
  stage.edit(kWeb, R"({"r2":1})");
  stage.run();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 0}, {"r2", 1}});
  stage.pod(kWeb, "p", PodFacts{});
  stage.run();
  CHECK(stage.cluster_of("p") == "r2");
}

TEST_CASE(
    "pool pods: a pod stays where it was placed, and only an unbound one leaves a gone cluster") {
  PlacedPool stage({{"r1", 2}});
  stage.pod(kWeb, "bound", pod_bound_in("r1", 1000, kGi));
  stage.pod(kWeb, "p", pod_asking(1000, kGi));
  stage.run();
  CHECK(stage.cluster_of("p") == "r1");
  stage.edit(kWeb, R"({"r2":2})");
  stage.run();
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 0}, {"r2", 2}});
  CHECK(stage.cluster_of("p") == "r1");
  stage.at(10);
  stage.lose("r1");
  stage.run();
  CHECK(stage.cluster_of("p") == "r1");
  stage.at(610);  // lostGrace ends
  stage.run();
  CHECK(stage.cluster_of("p") == "r2");
  CHECK(stage.cluster_of("bound") == "r1");
}

}  // namespace
}  // namespace fairlead::pool_tests::pods
