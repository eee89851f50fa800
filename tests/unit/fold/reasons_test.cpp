// Why a namespace or a pod has less than it asks for, and since when that counts.
#include "engine/fold/pool/reasons.h"

#include <catch2/catch.hpp>

#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::reasons {
namespace {

const PoolNamespaceKey kWeb = acme("web");
const std::string kNic = "example.com/nic";

struct OneCluster : PoolStage {
  explicit OneCluster(const Configuration& configuration = undamped_pool())
      : PoolStage(configuration) {
    offer("r1", 4);
    tenant("acme");
    want(kWeb, 2);
    run();
  }
  const PoolReason& of_pod(const std::string& name) { return value_of(pod_of(kWeb, name).reason); }
};

TEST_CASE("pool reasons: the first of a namespace's reasons that applies") {
  Configuration configuration = undamped_pool();
  configuration.pool.slices_max = 50;
  configuration.pool.tenant_limit = {{"cpu", 8 * kDefaultSlice.cpu}};
  OneCluster stage(configuration);
  CHECK(stage.reason(kWeb).empty());
  NamespaceFacts facts = stage.of(kWeb).seen->facts;
  const auto with_slice = [&](const std::string& slice) {
    facts.slice = slice;
    stage.space(kWeb, facts);
    stage.close();
    return stage.reason(kWeb);
  };
  const auto with_quota = [&](std::int64_t slices) {
    stage.quota(kWeb, slices);
    stage.close();
    return stage.reason(kWeb);
  };
  CHECK(with_quota(5) == "DoesNotFit: 3 more slices of cpu 2, memory 4Gi");
  CHECK(with_slice("2 cpus") == "BadSlice");
  CHECK(with_slice(R"({"cpu":"64","memory":"4Gi"})") == "SliceAboveQuota: cpu");
  CHECK(with_slice(R"({"cpu":"2","memory":"4Gi"})") ==
        "DoesNotFit: 5 more slices of cpu 2, memory 4Gi");
  CHECK(with_quota(9) == "TenantLimit: cpu");
  CHECK(with_quota(51) == "TooManySlices: 51");
  CHECK(with_quota(3).empty());
  stage.lose("r1");
  stage.close();
  CHECK(stage.reason(kWeb) == "ClusterUnavailable: r1");
}

TEST_CASE("pool reasons: the first of a pod's reasons that applies") {
  OneCluster stage;
  stage.want(acme("none"), 99);
  stage.pod(acme("none"), "p", pod_asking(1, 1));
  PodFacts nic;
  nic.requests = {{"cpu", 90'000}, {kNic, 1}};
  stage.pod(kWeb, "nic", nic);
  stage.pod(kWeb, "big", pod_asking(90'000, kGi));
  stage.run();
  CHECK(value_of(stage.pod_of(acme("none"), "p").reason).current == "NamespaceNotPlaced");
  CHECK(stage.of_pod("nic").current == "UnknownResource: " + kNic);
  CHECK(stage.of_pod("big").current == "DoesNotFit: cpu 90, memory 1Gi");
  stage.at(3);
  stage.run();
  stage.at(10);
  stage.lose("r1");
  stage.run();
  CHECK(stage.of_pod("nic").current == "ClusterUnavailable: r1");
}

TEST_CASE("pool reasons: one is written when it has held for pool.settle, and goes at once") {
  OneCluster stage;
  stage.at(10);
  stage.pod(kWeb, "p", pod_asking(4001, kGi));
  stage.run();
  stage.at(11);
  stage.pod(kWeb, "p", pod_asking(4002, kGi));  // another text begins anew
  stage.run();
  CHECK(stage.of_pod("p").since == second(11));
  stage.at(12);
  stage.run();
  CHECK(stage.of_pod("p").written.empty());
  stage.at(13);
  stage.close();
  CHECK(stage.of_pod("p").written == "DoesNotFit: cpu 4002m, memory 1Gi");
  CHECK(stage.dirty.pool_pods.contains(pod_in(kWeb, "p")));
  stage.run();
  stage.pod(kWeb, "p", [] {
    PodFacts facts = pod_asking(4000, kGi);
    facts.reason = "DoesNotFit: cpu 4002m, memory 1Gi";
    return facts;
  }());
  stage.close();
  CHECK(stage.pod_of(kWeb, "p").cluster == "r1");
  CHECK_FALSE(stage.pod_of(kWeb, "p").reason);
}

TEST_CASE("pool reasons: a text that was there at first stays while no other one counts") {
  PoolStage stage;
  stage.offer("r1", 1);
  stage.tenant("acme");
  NamespaceFacts facts;
  facts.reason = "DoesNotFit: old";
  stage.space(kWeb, facts);
  stage.quota(kWeb, 2);
  stage.close();
  CHECK(value_of(stage.of(kWeb).reason).written == "DoesNotFit: old");
  CHECK_FALSE(namespace_differs(stage.state.configuration, stage.of(kWeb)));
  stage.at(2);
  stage.close();
  CHECK(value_of(stage.of(kWeb).reason).written == stage.reason(kWeb));
  CHECK(namespace_differs(stage.state.configuration, stage.of(kWeb)));
}

TEST_CASE("pool reasons: those that speak of clusters wait until each had time for a first value") {
  Configuration configuration = undamped_pool();
  configuration.debounce.first_quiet = seconds(60);
  configuration.debounce.grow_window = minutes(5);
  PoolStage stage(configuration);
  stage.at(10);
  stage.offer("r1", 4);
  stage.tenant("acme");
  stage.want(kWeb, 9);
  stage.want(acme("bad"), 0);
  stage.close();
  CHECK(clusters_known_at(stage.state) == second(310));
  CHECK(value_of(stage.of(kWeb).reason).since == kForever);
  CHECK(value_of(stage.of(acme("bad")).reason).since == second(10));  // SliceAboveQuota
  stage.at(69);
  stage.close();
  CHECK_FALSE(stage.pool().clusters_known_since);
  stage.at(70);  // r1 has its first value
  stage.close();
  CHECK(stage.pool().clusters_known_since == second(70));
  CHECK(value_of(stage.of(kWeb).reason).since == second(70));
  CHECK(clusters_known_at(stage.state) == kForever);
}

}  // namespace
}  // namespace fairlead::pool_tests::reasons
