// The kinds of the super cluster pool: what is kept of them.
#include <catch2/catch.hpp>

#include "connectors/kube/projection/projection.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

template <class F>
F pool_facts(const std::string& kind, const std::string& rest) {
  const std::string version = kind == "VirtualCluster" ? "tenancy.x-k8s.io/v1alpha1" : "v1";
  const std::string metadata = rest.find("\"metadata\"") == std::string::npos
                                   ? R"("metadata":{"name":"x","namespace":"n","uid":"u"},)"
                                   : "";
  const std::string text =
      R"({"apiVersion":")" + version + R"(","kind":")" + kind + R"(",)" + metadata + rest + "}";
  INFO(text);
  return std::get<F>(seen(text).facts);
}

using Amounts = std::map<std::string, Amount>;

Amounts pod_requests(const std::string& spec) {
  return pool_facts<PodFacts>("Pod", R"("spec":)" + spec).requests;
}

}  // namespace

TEST_CASE("a VirtualCluster keeps its phase, its namespace and two annotations") {
  const auto full = pool_facts<VirtualClusterFacts>(
      "VirtualCluster",
      R"("metadata":{"name":"a","namespace":"n","annotations":{"fairlead.io/pool-limit":"{}",
        "tenancy.x-k8s.io/secret.admin-kubeconfig":"s","tenancy.x-k8s.io/admin-kubeconfig":"SECRET"}},
        "status":{"phase":"Running","clusterNamespace":"n-1-a"})");
  CHECK(full == VirtualClusterFacts{"Running", "n-1-a", "s", "{}"});
  const auto bare = pool_facts<VirtualClusterFacts>("VirtualCluster", R"("status":{"phase":3})");
  CHECK(bare == VirtualClusterFacts{});
}

TEST_CASE("an annotation that is too long is kept as an empty text") {
  const auto of = [](std::size_t size) {
    return pool_facts<NamespaceFacts>("Namespace", R"("metadata":{"name":"n","annotations":{)"
                                                   R"("scheduler.virtualcluster.io/placements":")" +
                                                       std::string(size, 'x') + R"("}})")
        .placements;
  };
  CHECK(of(kAnnotationMax) == std::string(kAnnotationMax, 'x'));
  CHECK(of(kAnnotationMax + 1) == "");
  CHECK(pool_facts<NamespaceFacts>("Namespace", R"("metadata":{"name":"n"})").placements ==
        std::nullopt);
}

TEST_CASE("a ResourceQuota keeps four names and whether it has scopes") {
  const auto quota = pool_facts<ResourceQuotaFacts>(
      "ResourceQuota",
      R"("spec":{"hard":{"cpu":"1500m","requests.cpu":2,"memory":"1.5","pods":"7","requests.memory":"x"}})");
  CHECK(quota == ResourceQuotaFacts{{{"cpu", 1500}, {"requests.cpu", 2000}, {"memory", 2}}, false});
  const auto scoped = [](const std::string& spec) {
    return pool_facts<ResourceQuotaFacts>("ResourceQuota", R"("spec":)" + spec).scoped;
  };
  CHECK(scoped(R"({"scopes":["BestEffort"]})"));
  CHECK(scoped(R"({"scopeSelector":{}})"));
  CHECK_FALSE(scoped(R"({"scopes":[]})"));
}

TEST_CASE("the requests of a Pod are what kube-scheduler counts") {
  // Containers add up; a missing request is the limit; zeros are dropped.
  CHECK(pod_requests(R"({"containers":[{"resources":{"requests":{"cpu":"1","gpu":"0"}}},
      {"resources":{"requests":{"cpu":"500m"},"limits":{"cpu":"9","memory":"1Gi"}}}]})") ==
        Amounts{{"cpu", 1500}, {"memory", 1 << 30}});
  // An init container runs alone, a sidecar beside all that follow it.
  CHECK(pod_requests(R"({"initContainers":[{"resources":{"requests":{"cpu":"5"}}}],
      "containers":[{"resources":{"requests":{"cpu":"1","memory":"1"}}}]})") ==
        Amounts{{"cpu", 5000}, {"memory", 1}});
  CHECK(pod_requests(R"({"initContainers":[{"resources":{"requests":{"cpu":"1"}}},
        {"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},
        {"resources":{"requests":{"cpu":"3"}}}],
      "containers":[{"resources":{"requests":{"cpu":"1"}}}]})") == Amounts{{"cpu", 5000}});
  // Pod-level requests take the place of the sum, overhead is added to them.
  CHECK(pod_requests(R"({"resources":{"requests":{"cpu":"2","gpu":"4"}},"overhead":{"cpu":"100m"},
      "containers":[{"resources":{"requests":{"cpu":"7","gpu":"1"}}}]})") ==
        Amounts{{"cpu", 2100}, {"gpu", 1}});
  CHECK(pod_requests("{}").empty());
}

TEST_CASE("a Pod is bound, gated, over or none of these") {
  const auto pod = [](const std::string& rest) { return pool_facts<PodFacts>("Pod", rest); };
  CHECK(pod(R"("spec":{"nodeName":"n"})").bound);
  CHECK_FALSE(pod(R"("spec":{"nodeName":""})").bound);
  CHECK(pod(R"("spec":{"schedulingGates":[{"name":"g"}]})").gated);
  CHECK_FALSE(pod(R"("spec":{"schedulingGates":[]})").gated);
  CHECK(pod(R"("spec":{"resourceClaims":[{"name":"c"}]})").resource_claims);
  CHECK(pod(R"("status":{"phase":"Failed"})").over);
  CHECK(pod(R"("status":{"phase":"Succeeded"})").over);
  CHECK_FALSE(pod(R"("status":{"phase":"Running"})").over);
}

TEST_CASE("of ConfigMaps only the one that names a super cluster is read") {
  const auto read = [](const std::string& namespace_, const std::string& name) {
    auto document =
        parse_json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                   R"(","namespace":")" + namespace_ + R"("},"data":{"id":"r1"}})");
    REQUIRE(document.has_value());
    auto projected = project(document->root());
    REQUIRE(projected.has_value());
    return projected->has_value();
  };
  CHECK(read("kube-system", "supercluster-info"));
  CHECK_FALSE(read("default", "supercluster-info"));
  CHECK_FALSE(read("kube-system", "other"));
}
