// What Pods and the pod sets of Workloads ask of devices.
#include <catch2/catch.hpp>

#include "connectors/kube/projection/projection.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

PodFacts pod_facts(const std::string& rest) {
  return std::get<PodFacts>(seen(R"({"apiVersion":"v1","kind":"Pod",)" + rest + "}").facts);
}

// A Pod that asks for one example.com/gpu and has `rest` in its spec.
PodDeviceFacts gpu_pod(const std::string& rest) {
  const PodFacts pod = pod_facts(
      R"("metadata":{"name":"p"},"spec":{"containers":[{"resources":{"limits":{"example.com/gpu":1}}}],)" +
      rest + "}");
  REQUIRE(pod.devices);
  return *pod.devices;
}

using Amounts = std::map<std::string, Amount>;

// The extended resources of a Pod with a claim and these fields in its spec.
Amounts extended(const std::string& spec) {
  const PodFacts pod =
      pod_facts(R"("metadata":{"name":"p"},"spec":{"resourceClaims":[{"name":"c"}],)" + spec + "}");
  REQUIRE(pod.devices);
  return pod.devices->extended;
}

const std::vector<std::string> kKueueVersions{"v1beta1", "v1beta2"};

WorkloadFacts workload_facts(const std::string& version, const std::string& rest) {
  const std::string metadata =
      rest.starts_with(R"("metadata")") ? "" : R"("metadata":{"name":"w","namespace":"n"},)";
  return std::get<WorkloadFacts>(seen(R"({"apiVersion":"kueue.x-k8s.io/)" + version +
                                      R"(","kind":"Workload",)" + metadata + rest + "}")
                                     .facts);
}

WorkloadFacts with_nothing() {
  WorkloadFacts facts;
  facts.progress.emplace();
  return facts;
}

const std::string kGpuTemplate =
    R"("template":{"spec":{"containers":[{"resources":{"requests":{"example.com/gpu":"2"}}}]}})";

}  // namespace

TEST_CASE("a Pod that has neither claims nor extended resources says nothing of devices") {
  for (
      const char* spec :
      {R"({})", R"(7)", R"({"resourceClaims":[]})", R"({"nodeSelector":{"a":"b"}})",
       R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi","hugepages-2Mi":"2Mi"}}}]})",
       R"({"containers":[{"resources":{"requests":{"example.com/gpu":"0"}}}]})"}) {
    INFO(spec);
    CHECK_FALSE(pod_facts(R"("metadata":{"name":"p"},"spec":)" + std::string(spec)).devices);
  }
  const PodFacts by_limit = pod_facts(
      R"("metadata":{"name":"p"},"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]})");
  REQUIRE(by_limit.devices);
  CHECK(*by_limit.devices == PodDeviceFacts{{}, {{"nvidia.com/gpu", 1}}, {}, {}, {}});
}

TEST_CASE("claims of a Pod are kept as listed, with whatever they name") {
  CHECK(gpu_pod(R"("resourceClaims":[{"name":"z","resourceClaimTemplateName":"t"},
          {"name":"a","resourceClaimName":"c"},{"name":"neither"},{},7])")
            .claims ==
        std::vector<PodClaim>{{"z", "", "t"}, {"a", "c", ""}, {"neither", "", ""}, {}, {}});
  CHECK(gpu_pod(R"("resourceClaims":{"name":"z"})").claims.empty());
}

TEST_CASE("extended resources are the largest init container or the sum of the containers") {
  // Requests, else limits, of each container; of every name with a slash.
  CHECK(extended(R"("containers":[
      {"resources":{"requests":{"a/x":"1","cpu":"4"},"limits":{"a/x":"9","b/y":"2"}}},
      {"resources":{"requests":{"a/x":2,"deviceclass.resource.kubernetes.io/c":"1"}}}])") ==
        Amounts{{"a/x", 3}, {"b/y", 2}, {"deviceclass.resource.kubernetes.io/c", 1}});
  CHECK(extended(R"("initContainers":[{"resources":{"requests":{"a/x":"5","b/y":"1"}}},
        {"resources":{"requests":{"a/x":"4","c/z":"0"}}}],
      "containers":[{"resources":{"requests":{"a/x":"3"}}},
        {"resources":{"requests":{"b/y":"2"}}}])") == Amounts{{"a/x", 5}, {"b/y", 2}});
  CHECK(extended(R"("containers":[{"resources":{"requests":{"a/x":"0"},"limits":{"a/x":"2"}}}])")
            .empty());
}

TEST_CASE("the extended resources of sidecars are beside those of what runs after them") {
  const auto container = [](const std::string& amount, bool sidecar) {
    return R"({"resources":{"requests":{"a/x":")" + amount + R"("}})" +
           (sidecar ? R"(,"restartPolicy":"Always"})" : "}");
  };
  const auto of = [&](const std::string& init) {
    return extended(R"("containers":[)" + container("1", false) + R"(],"initContainers":[)" + init +
                    "]");
  };
  CHECK(of(container("1", true)) == Amounts{{"a/x", 2}});
  CHECK(of(container("1", true) + "," + container("2", true)) == Amounts{{"a/x", 4}});
  CHECK(of(container("4", false) + "," + container("1", true)) == Amounts{{"a/x", 4}});
  CHECK(of(container("1", true) + "," + container("4", false)) == Amounts{{"a/x", 5}});
}

TEST_CASE("an amount of a device that makes no sense counts as absent") {
  CHECK(extended(R"("containers":[{"resources":{"requests":{"a/x":"-1","b/y":"x","c/z":[1]},
        "limits":{"a/x":"2","c/z":"-3"}}},{"resources":7},3,null],"initContainers":{"a":1})") ==
        Amounts{{"a/x", 2}});
  CHECK(extended(R"("containers":[{"resources":{"requests":{"a/x":"8E","b/y":"100m"}}},
        {"resources":{"requests":{"a/x":"8E","b/y":1.5}}}])") ==
        Amounts{{"a/x", INT64_MAX}, {"b/y", 3}});
}

TEST_CASE("a Pod that asks for devices keeps which nodes it can run on") {
  const PodDeviceFacts pod = gpu_pod(R"("nodeSelector":{"b":"2","a":"1","c":3},
    "affinity":{"podAffinity":{},"nodeAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{}}],
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"k","operator":"In","values":["v"]}],
          "matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}},
    "tolerations":[{"key":"z","operator":"Exists","effect":"NoExecute","tolerationSeconds":3},
      {"key":"a","value":"v"},{"key":"z","operator":"Exists","effect":"NoExecute"}])");
  CHECK(pod.node_selector == std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}});
  CHECK(pod.affinity == NodeSelector{{{{{"k", "In", {"v"}}}, {{"metadata.name", "In", {"n"}}}}}});
  CHECK(pod.tolerations ==
        std::vector<Toleration>{{"a", "Equal", "v", ""}, {"z", "Exists", "", "NoExecute"}});
  // No node affinity is not one that no node meets.
  CHECK(gpu_pod(R"("affinity":{"nodeAffinity":{}})").affinity == std::nullopt);
  CHECK(gpu_pod(R"("affinity":{"nodeAffinity":
      {"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}})")
            .affinity == NodeSelector{});
  const PodDeviceFacts malformed =
      gpu_pod(R"("nodeSelector":[],"affinity":"x","tolerations":{"key":"k"})");
  CHECK(malformed == gpu_pod(R"("x":1)"));
}

TEST_CASE("the metadata of a member's Pod says which Workload it belongs to") {
  const std::string metadata =
      R"("metadata":{"name":"p","namespace":"n","annotations":{"kueue.x-k8s.io/workload":"w"},
        "labels":{"kueue.x-k8s.io/podset":"workers","a":"b"}})";
  PodFacts expected;
  expected.set_origin({"w", "workers", ""});
  CHECK(pod_facts(metadata) == expected);
  CHECK(pod_facts(R"("metadata":{"name":"p","annotations":{"kueue.x-k8s.io/workload":7},
      "labels":{"kueue.x-k8s.io/podset":[]}})") == PodFacts{});
  CHECK(pod_facts(R"("metadata":{"name":"p","annotations":{"kueue.x-k8s.io/workload":")" +
                  std::string(kAnnotationMax + 1, 'x') + R"("}})") == PodFacts{});
}

TEST_CASE("a Workload keeps the pod sets that may use devices, in their order") {
  for (const std::string& version : kKueueVersions) {
    const WorkloadFacts workload = workload_facts(version, R"("spec":{"podSets":[
        {"name":"workers","count":4,)" + kGpuTemplate + R"(},
        {"name":"cpu","count":9,"template":{"spec":{"containers":[{}]}}},
        {"name":"claims","count":2,"template":{"spec":{"resourceClaims":[
          {"name":"c","resourceClaimTemplateName":"t"}],"nodeSelector":{"a":"b"}}}}]},
      "status":{"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"claims","count":0},
        {"name":"cpu","count":9},{"name":"other","count":7}]}})");
    REQUIRE(workload.pod_sets.size() == 2);
    const PodDeviceFacts gpus{{}, {{"example.com/gpu", 2}}, {}, {}, {}};
    CHECK(workload.pod_sets[0] == WorkloadPodSet{"workers", 4, std::nullopt, gpus, {}});
    const PodDeviceFacts claims{{{"c", "", "t"}}, {}, {{"a", "b"}}, {}, {}};
    CHECK(workload.pod_sets[1] == WorkloadPodSet{"claims", 2, 0, claims, {}});
  }
}

TEST_CASE("a pod set has the defaults of the API") {
  const auto only = [](const std::string& pod_set, const std::string& assignments) {
    const WorkloadFacts workload = workload_facts(
        "v1beta2", R"("spec":{"podSets":[{)" + pod_set + kGpuTemplate +
                       R"(}]},"status":{"admission":{"podSetAssignments":)" + assignments + "}}");
    REQUIRE(workload.pod_sets.size() == 1);
    return std::tuple(workload.pod_sets[0].name, workload.pod_sets[0].count,
                      workload.pod_sets[0].admitted);
  };
  CHECK(only("", R"([{"count":3}])") == std::tuple("main", 1, 3));
  CHECK(only(R"("name":"","count":0,)", R"([{"name":"main"}])") ==
        std::tuple("main", 0, std::nullopt));
  CHECK(only(R"("name":"a","count":-2,)", R"([{"name":"a","count":-3}])") ==
        std::tuple("a", 1, std::nullopt));
  CHECK(only(R"("name":"a","count":"x",)", R"({"name":"a","count":3})") ==
        std::tuple("a", 1, std::nullopt));
  CHECK(workload_facts("v1beta2", R"("spec":{"podSets":{"name":"a"}},"status":{"admission":7})") ==
        with_nothing());
}

TEST_CASE("a Workload keeps its priority, its time and whether its devices are reserved") {
  for (const std::string& version : kKueueVersions) {
    const WorkloadFacts workload = workload_facts(
        version, R"("metadata":{"name":"w","creationTimestamp":"2026-01-01T00:00:00Z"},
          "spec":{"priority":-7},"status":{"conditions":[
            {"type":"fairlead.io/DevicesReserved","status":"False","reason":"NoCluster",
             "message":"w1: NoDevices","observedGeneration":2}]})");
    CHECK(workload.priority == -7);
    CHECK(workload.created == LogTime{1'767'225'600'000'000'000});
    CHECK(workload.devices_reserved == ConditionFacts{ConditionStatus::no, "NoCluster", 2});
  }
  CHECK(workload_facts("v1beta2", R"("metadata":{"name":"w","creationTimestamp":"yesterday"},
      "spec":{"priority":"high"})") == with_nothing());
}
