#include "connectors/kube/discovery.h"

#include <catch2/catch.hpp>

using namespace fairlead;

TEST_CASE("the best served version of each kind is chosen, and an absent kind has none") {
  Discovery discovery({Kind::node, Kind::cluster_queue, Kind::local_queue, Kind::cluster_metrics});
  CHECK(discovery.paths() == std::vector<std::string>{"/api/v1", "/apis/kueue.x-k8s.io/v1beta2",
                                                      "/apis/kueue.x-k8s.io/v1beta1",
                                                      "/apis/galaxy.kubestellar.io/v1alpha1"});
  CHECK_FALSE(discovery.decided(Kind::node));
  discovery.answer(
      "/api/v1", 200,
      R"({"kind":"APIResourceList","resources":[{"name":"nodes"},{"name":"nodes/status"}]})");
  CHECK(discovery.version(Kind::node) == "v1");
  discovery.answer("/apis/kueue.x-k8s.io/v1beta1", 200,
                   R"({"resources":[{"name":"clusterqueues"},{"name":"localqueues"}]})");
  CHECK_FALSE(discovery.decided(Kind::cluster_queue));  // v1beta2 could still answer
  discovery.answer("/apis/kueue.x-k8s.io/v1beta2", 200,
                   R"({"resources":[{"name":"clusterqueues"}]})");
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  CHECK(discovery.version(Kind::local_queue) == "v1beta1");
  discovery.answer("/apis/galaxy.kubestellar.io/v1alpha1", 404, "404 page not found");
  CHECK(discovery.decided(Kind::cluster_metrics));
  CHECK_FALSE(discovery.version(Kind::cluster_metrics));
  discovery.answer("/apis/galaxy.kubestellar.io/v1alpha1", 200,
                   R"({"resources":[{"name":"clustermetrics"}]})");
  CHECK(discovery.version(Kind::cluster_metrics) == "v1alpha1");
}

TEST_CASE("a failing answer changes nothing that was known") {
  Discovery discovery({Kind::node});
  discovery.answer("/api/v1", 200, R"({"resources":[{"name":"nodes"}]})");
  discovery.answer("/api/v1", 503, "");
  discovery.answer("/api/v1", 0, "");
  discovery.answer("/api/v1", 200, "<html>");
  discovery.answer("/api/v1", 200, "{}");
  CHECK(discovery.version(Kind::node) == "v1");
}
