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
  return pool_facts<PodFacts>("Pod", R"("spec":)" + spec).requests.to_map();
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

TEST_CASE("a Namespace keeps what the pool and the syncer wrote on it") {
  const auto full = pool_facts<NamespaceFacts>(
      "Namespace",
      R"("metadata":{"name":"n","deletionTimestamp":"2026-01-01T00:00:00Z","annotations":{
        "scheduler.virtualcluster.io/slice":"s","scheduler.virtualcluster.io/placements":"",
        "fairlead.io/pool-policy":"spread","fairlead.io/pool-reason":"BadSlice",
        "tenancy.x-k8s.io/cluster":"acme","tenancy.x-k8s.io/namespace":"web","tenancy.x-k8s.io/uid":"u7",
        "tenancy.x-k8s.io/admin-kubeconfig":"SECRET","other":"x"}})");
  CHECK(full == NamespaceFacts{"s", "", "spread", "BadSlice", "acme", "web", "u7", true});
  const auto malformed = pool_facts<NamespaceFacts>(
      "Namespace", R"("metadata":{"name":"n","annotations":{"scheduler.virtualcluster.io/slice":7,
        "scheduler.virtualcluster.io/placements":{"r1":1},"fairlead.io/pool-policy":null,
        "tenancy.x-k8s.io/cluster":[]}})");
  CHECK(malformed == NamespaceFacts{});
  CHECK(pool_facts<NamespaceFacts>("Namespace", R"("metadata":{"name":"n","annotations":"x"})") ==
        NamespaceFacts{});
}

TEST_CASE("a ResourceQuota keeps four names and whether it has scopes") {
  const auto quota = pool_facts<ResourceQuotaFacts>(
      "ResourceQuota",
      R"("spec":{"hard":{"cpu":"1500m","requests.cpu":2,"memory":"1.5","pods":"7","requests.memory":"x"}})");
  CHECK(quota == ResourceQuotaFacts{{{"cpu", 1500}, {"requests.cpu", 2000}, {"memory", 2}}, false});
  const auto scoped = [](const std::string& spec) {
    return pool_facts<ResourceQuotaFacts>("ResourceQuota", R"("spec":)" + spec).scoped;
  };
  CHECK(pool_facts<ResourceQuotaFacts>("ResourceQuota", R"("spec":{"hard":[]})") ==
        ResourceQuotaFacts{});
  CHECK(pool_facts<ResourceQuotaFacts>("ResourceQuota", R"("spec":7)") == ResourceQuotaFacts{});
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
  // A limit of the Pod counts where nothing requests the resource; hugepages are of the Pod, too.
  CHECK(pod_requests(R"({"resources":{"limits":{"cpu":"9","memory":"3","hugepages-2Mi":"4Mi"}},
      "containers":[{"resources":{"requests":{"cpu":"1"}}}]})") ==
        Amounts{{"cpu", 1000}, {"hugepages-2Mi", 4 << 20}, {"memory", 3}});
  CHECK(pod_requests(R"({"resources":{"requests":{"cpu":"0"}},
      "containers":[{"resources":{"requests":{"cpu":"1"}}}]})")
            .empty());
  CHECK(pod_requests("{}").empty());
}

TEST_CASE("requests of a Pod that make no sense make no room and no fault") {
  CHECK(pod_requests(R"({"containers":[{"resources":{"requests":{"cpu":"-5","memory":"-1Gi"}}},
      {"resources":{"requests":{"cpu":"1"}}}],"overhead":{"cpu":"-1"}})") ==
        Amounts{{"cpu", 1000}});
  CHECK(pod_requests(R"({"containers":[{"resources":{"requests":{"cpu":"x","gpu":[1]},"limits":7}},
      {"resources":null},3],"initContainers":{"a":1},"resources":"x","overhead":[]})")
            .empty());
  // Fractions round up each, sums end at the largest amount.
  CHECK(pod_requests(R"({"containers":[{"resources":{"requests":{"cpu":"1.0001","memory":"0.2"}}},
      {"resources":{"requests":{"cpu":"1e-4","memory":"100m"}}}]})") ==
        Amounts{{"cpu", 1002}, {"memory", 2}});
  CHECK(pod_requests(R"({"containers":[{"resources":{"requests":{"memory":"8Ei"}}},
      {"resources":{"requests":{"memory":"8Ei"}}}]})") == Amounts{{"memory", INT64_MAX}});
  // Respelt, the same.
  CHECK(
      pod_requests(
          R"({"containers":[{"resources":{"requests":{"cpu":0.5,"memory":"1024Ki"}}}]})") ==
      pod_requests(R"({"containers":[{"resources":{"requests":{"cpu":"500m","memory":"1Mi"}}}]})"));
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
  CHECK(pod(R"("metadata":{"name":"p","deletionTimestamp":"2026-01-01T00:00:00Z"})").deleting);
  const auto placed =
      pod(R"("metadata":{"name":"p","annotations":{"fairlead.io/pool-reason":"ResourceClaims",
        "scheduler.virtualcluster.io/superCluster":"r1"}})");
  CHECK(placed.super_cluster == "r1");
  CHECK(placed.reason == "ResourceClaims");
  // Of a super cluster, where only the metadata is sent.
  CHECK(pod(R"("metadata":{"name":"p","annotations":{"tenancy.x-k8s.io/uid":"u7"}})").origin() ==
        PodOrigin{"", "", "u7"});
  CHECK(pod(R"("metadata":{"name":"p","annotations":{"tenancy.x-k8s.io/uid":7}})") == PodFacts{});
  CHECK(pod(R"("spec":{"nodeName":7,"schedulingGates":"x","resourceClaims":3},"status":[])") ==
        PodFacts{});
}

TEST_CASE("raw objects of the pool are not kept") {
  auto document = parse_json(R"({"metadata":{"name":"p"}})");
  REQUIRE(document.has_value());
  for (const Kind kind :
       {Kind::virtual_cluster, Kind::namespace_, Kind::resource_quota, Kind::pod, Kind::config_map})
    CHECK(raw_to_keep(kind, document->root()).empty());
}

TEST_CASE("the id of a super cluster is kept as it is written") {
  const auto id = [](const std::string& data) {
    return pool_facts<ConfigMapFacts>(
               "ConfigMap",
               R"("metadata":{"name":"supercluster-info","namespace":"kube-system"},)" + data)
        .id;
  };
  CHECK(id(R"("data":{"id":"r1"})") == "r1");
  CHECK(id(R"("data":{"id":" not an id "})") == " not an id ");
  CHECK(id(R"("data":{"id":""})") == "");
  CHECK(id(R"("data":{"id":7})") == std::nullopt);
  CHECK(id(R"("data":{"ID":"r1"})") == std::nullopt);
  CHECK(id(R"("data":"id")") == std::nullopt);
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
