// How far a Workload has come and whose it is, from objects as Kueue 0.19 writes them.
#include <catch2/catch.hpp>

#include "connectors/kube/projection/projection.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

WorkloadFacts workload_facts(const std::string& version, const std::string& rest) {
  const std::string metadata =
      rest.starts_with(R"("metadata")") ? "" : R"("metadata":{"name":"w","namespace":"n"},)";
  return std::get<WorkloadFacts>(seen(R"({"apiVersion":"kueue.x-k8s.io/)" + version +
                                      R"(","kind":"Workload",)" + metadata + rest + "}")
                                     .facts);
}
WorkloadProgress progress(const std::string& rest) {
  const auto facts = workload_facts("v1beta2", rest);
  CHECK(workload_facts("v1beta1", rest) == facts);
  REQUIRE(facts.progress);
  return *facts.progress;
}

const std::string kTwoPodSets = R"("podSets":[
    {"name":"driver","count":1,"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"500m"}}}],
      "overhead":{"cpu":"100m"}}}},
    {"name":"workers","count":3,"template":{"spec":{"containers":[
      {"resources":{"requests":{"cpu":"2"},"limits":{"nvidia.com/gpu":"1"}}}]}}}])";

}  // namespace

TEST_CASE("a Workload keeps its checks by name, where it runs, and what became of it") {
  const std::string status =
      R"("metadata":{"name":"w","namespace":"n"},"status":{"clusterName":"c","nominatedClusterNames":["b","a"],
        "admissionChecks":[{"name":"z","state":"Ready"},{"name":"a","state":"Pending","message":"m"},{"state":"Retry"}],
        "conditions":[{"type":"QuotaReserved","status":"True"},{"type":"Evicted","status":"False"},
          {"type":"Finished","status":"Unknown"}]})";
  const auto workload = workload_facts("v1beta2", status);
  CHECK(workload.checks == std::vector<WorkloadCheck>{{"a", "Pending"}, {"z", "Ready"}});
  CHECK(workload.cluster_name == "c");
  CHECK(workload.nominated_clusters == std::vector<std::string>{"b", "a"});
  CHECK(workload.quota_reserved);
  CHECK_FALSE(workload.evicted);
  CHECK_FALSE(workload.finished);
  CHECK_FALSE(workload.deleting);
  CHECK(workload_facts("v1beta1", status) == workload);
  WorkloadFacts nothing;
  nothing.progress.emplace();
  CHECK(workload_facts("v1beta2", R"("spec":{})") == nothing);
}

TEST_CASE("a Workload that waits keeps its conditions with their texts, in one order") {
  const WorkloadProgress waiting = progress(
      R"("spec":{"queueName":"team-a","active":true},"status":{"conditions":[
        {"type":"Requeued","status":"False","reason":"Preempted","message":"","lastTransitionTime":"2026-01-01T00:00:09Z"},
        {"type":"PodsReady","status":"False","reason":"WaitForStart","message":"Not all pods are ready or succeeded"},
        {"type":"QuotaReserved","status":"False","reason":"Pending","lastTransitionTime":"2026-01-01T00:00:15Z",
          "message":"couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor a, 4 more needed"}]})");
  CHECK(waiting.queue == "team-a");
  CHECK_FALSE(waiting.deactivated);
  REQUIRE(waiting.conditions.size() == 2);
  CHECK(waiting.conditions[0] ==
        WorkloadCondition{"QuotaReserved", ConditionStatus::no, "Pending",
                          "couldn't assign flavors to pod set main: insufficient unused quota for "
                          "cpu in flavor a, 4 more needed"});
  CHECK(waiting.conditions[1] ==
        WorkloadCondition{"Requeued", ConditionStatus::no, "Preempted", ""});
  CHECK(waiting.quota_since == parse_rfc3339("2026-01-01T00:00:15Z"));
  CHECK_FALSE(waiting.finished_at);
}

TEST_CASE("only spec.active false deactivates a Workload") {
  CHECK(progress(R"("spec":{"active":false})").deactivated);
  CHECK_FALSE(progress(R"("spec":{})").deactivated);
}

TEST_CASE("requests are those that Kueue considered, else those of the pod sets") {
  const ResourceAmounts of_pods{{"cpu", 600 + 3 * 2000}, {"nvidia.com/gpu", 3}};
  CHECK(progress(R"("spec":{)" + kTwoPodSets + "}").requests == of_pods);
  const ResourceAmounts considered{{"cpu", 7000}, {"example.com/gpu-memory", 30}};
  CHECK(progress(R"("spec":{)" + kTwoPodSets + R"(},"status":{"resourceRequests":[
      {"name":"driver","resources":{"cpu":"1"}},
      {"name":"workers","resources":{"cpu":"6","example.com/gpu-memory":"30"}}]})")
            .requests == considered);
}

TEST_CASE("an admitted Workload keeps what each pod set was given, and what it needs no more") {
  const WorkloadProgress admitted =
      progress(R"("spec":{)" + kTwoPodSets +
               R"(},"status":{"admission":{"clusterQueue":"gpus","podSetAssignments":[
        {"name":"driver","flavors":{"cpu":"od"},"resourceUsage":{"cpu":"600m"}},
        {"name":"workers","count":2,"flavors":{"cpu":"od","nvidia.com/gpu":"a100"},
          "resourceUsage":{"cpu":"4","nvidia.com/gpu":"2","pods":"2"}}]},
        "reclaimablePods":[{"name":"workers","count":1},{"name":"driver","count":9}],
        "requeueState":{"count":2,"requeueAt":"2026-01-01T00:01:00Z"},
        "conditions":[{"type":"Finished","status":"True","reason":"Succeeded","lastTransitionTime":"2026-01-01T01:00:00Z"}]})");
  CHECK(admitted.cluster_queue == "gpus");
  CHECK(admitted.assigned ==
        std::vector<AssignedPodSet>{
            {"driver", 1, 1, {{"od", "cpu", 600}}},
            {"workers", 2, 1, {{"a100", "nvidia.com/gpu", 2}, {"od", "cpu", 4000}}}});
  CHECK(admitted.requeues == 2);
  CHECK(admitted.requeue_at == parse_rfc3339("2026-01-01T00:01:00Z"));
  CHECK(admitted.finished_at == parse_rfc3339("2026-01-01T01:00:00Z"));
}

TEST_CASE("a Workload belongs to its controller; a worker's copy names its origin") {
  const WorkloadProgress copy = progress(
      R"("metadata":{"name":"w","namespace":"n","labels":{"kueue.x-k8s.io/multikueue-origin":"multikueue","team":"vision"},
        "ownerReferences":[{"kind":"Cleaner","name":"x"},{"kind":"Job","name":"train","controller":true}]})");
  CHECK(copy.owner_kind == "Job");
  CHECK(copy.owner_name == "train");
  CHECK(copy.origin == "multikueue");
  CHECK(copy.labels == std::map<std::string, std::string>{{"team", "vision"}});
}
