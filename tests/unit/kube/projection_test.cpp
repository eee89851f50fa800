#include "connectors/kube/projection/projection.h"

#include <catch2/catch.hpp>

#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

template <class F>
F facts(std::string_view text) {
  return std::get<F>(seen(text).facts);
}

bool is_read(std::string_view text) {
  auto document = parse_json(text);
  REQUIRE(document.has_value());
  auto object = project(document->root());
  REQUIRE(object.has_value());
  return object->has_value();
}

}  // namespace

TEST_CASE("identity comes from metadata, and the namespace only for namespaced kinds") {
  ObjectSeen queue =
      seen(R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"LocalQueue","metadata":{"name":"q",
    "namespace":"team","uid":"u1","resourceVersion":"12","generation":3},"spec":{"clusterQueue":"c"}})");
  CHECK(queue.key == ObjectKey{Kind::local_queue, "team", "q"});
  CHECK(queue.version == "v1beta1");
  CHECK(queue.uid == "u1");
  CHECK(queue.resource_version == "12");
  CHECK(queue.generation == 3);
  CHECK(std::get<LocalQueueFacts>(queue.facts).cluster_queue == "c");
  CHECK(seen(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","namespace":"x"}})")
            .key.namespace_.empty());
}

TEST_CASE("kinds, groups and versions that Fairlead does not read are not projected") {
  CHECK_FALSE(is_read(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"p"}})"));
  CHECK_FALSE(is_read(R"({"apiVersion":"other.io/v1","kind":"Node","metadata":{"name":"p"}})"));
  CHECK_FALSE(is_read(
      R"({"apiVersion":"kueue.x-k8s.io/v1alpha9","kind":"ClusterQueue","metadata":{"name":"p"}})"));
  CHECK_FALSE(is_read(R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork",
    "metadata":{"name":"theirs"}})"));
  CHECK_FALSE(is_read("[]"));
  auto document = parse_json(R"({"apiVersion":"v1","kind":"Node","metadata":{}})");
  CHECK(project(document->root()).error().code == ErrorCode::bad_input);
}

TEST_CASE("a Node keeps allocatable, labels, repelling taints, unschedulable and Ready") {
  auto node = facts<NodeFacts>(
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"b":"2","a":"1","c":3}},
    "spec":{"unschedulable":true,"taints":[{"key":"z","effect":"NoExecute"},{"key":"p","effect":"PreferNoSchedule"},
      {"key":"a","value":"v","effect":"NoSchedule"},{"key":"a","value":"v","effect":"NoSchedule"},{"effect":"NoSchedule"}]},
    "status":{"capacity":{"cpu":"99"},"allocatable":{"cpu":"3920m","memory":"1Gi","nvidia.com/gpu":8,"bad":"x","worse":[]},
      "conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}]}})");
  CHECK(node.labels == std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}});
  CHECK(node.taints == std::vector<Taint>{{"a", "v", "NoSchedule"}, {"z", "", "NoExecute"}});
  CHECK(node.unschedulable);
  CHECK(node.ready);
  CHECK(node.allocatable ==
        ResourceAmounts{{"cpu", 3920}, {"memory", 1 << 30}, {"nvidia.com/gpu", 8}});
  CHECK_FALSE(facts<NodeFacts>(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},
    "status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})")
                  .ready);
}

TEST_CASE(
    "ClusterMetrics is a set of machines by name; respelt and reordered it is equal; without nodes "
    "it is empty") {
  const char* one =
      R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterMetrics","metadata":{"name":"c"},"status":{"nodes":[
    {"name":"a","allocatableResources":{"cpu":"1","memory":"1Gi"},"labels":{"x":"1"},"taints":[{"key":"t","effect":"NoSchedule"}]},
    {"name":"b","allocatableResources":{"cpu":2},"unschedulable":true}]}})";
  const char* two =
      R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterMetrics","metadata":{"name":"c"},"status":{"nodes":[
    {"name":"b","unschedulable":true,"allocatableResources":{"cpu":"2000m"},"podRequests":{"cpu":"9"}},
    {"name":"a","allocatableResources":{"cpu":"1000m","memory":1073741824},"labels":{"x":"1"},"taints":[{"key":"t","effect":"NoSchedule"}]}]}})";
  auto metrics = facts<ClusterMetricsFacts>(one);
  CHECK(metrics == facts<ClusterMetricsFacts>(two));
  CHECK(metrics.nodes.at("a").ready);
  CHECK(metrics.nodes.at("b").unschedulable);
  CHECK(metrics.nodes.at("b").allocatable == ResourceAmounts{{"cpu", 2000}});
  for (const char* status : {"{}", R"({"nodes":null})", R"({"nodes":[]})", R"({"nodes":{}})", "7"})
    CHECK(
        facts<ClusterMetricsFacts>(
            std::string(
                R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterMetrics","metadata":{"name":"c"},"status":)") +
            status + "}")
            .nodes.empty());
}

TEST_CASE("a ManagedCluster keeps allocatable, its liveness and its deletion") {
  auto cluster = facts<ManagedClusterFacts>(
      R"({"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster",
    "metadata":{"name":"c","deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"capacity":{"cpu":"50"},"allocatable":{"cpu":"40"},
    "conditions":[{"type":"ManagedClusterConditionAvailable","status":"Unknown","reason":"R","observedGeneration":4}]}})");
  CHECK(cluster.allocatable == ResourceAmounts{{"cpu", 40000}});
  CHECK(cluster.available == ConditionFacts{ConditionStatus::unknown, "R", 4});
  CHECK(cluster.deleting);
}

TEST_CASE("a ClusterProfile names its cluster by label or by its own name") {
  const std::string head =
      R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":{"name":"p","namespace":"n")";
  CHECK(facts<ClusterProfileFacts>(head + "}}").cluster == "p");
  CHECK(facts<ClusterProfileFacts>(
            head + R"(,"labels":{"open-cluster-management.io/cluster-name":"c2"}}})")
            .cluster == "c2");
}

TEST_CASE("a ResourceFlavor keeps labels, taints and tolerations as sets") {
  auto flavor = facts<ResourceFlavorFacts>(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"},
    "spec":{"nodeLabels":{"pool":"spot"},"nodeTaints":[{"key":"s","value":"1","effect":"NoSchedule"}],
    "tolerations":[{"key":"b","operator":"Exists"},{"key":"a","value":"v","effect":"NoSchedule"}],"topologyName":"t"}})");
  CHECK(flavor.node_labels.at("pool") == "spot");
  CHECK(flavor.node_taints.size() == 1);
  CHECK(flavor.tolerations ==
        std::vector<Toleration>{{"a", "Equal", "v", "NoSchedule"}, {"b", "Exists", "", ""}});
  CHECK(flavor.topology_name == "t");
}

TEST_CASE("effectiveQuotas of a ClusterQueue and of a Cohort: absent is not empty") {
  const auto queue = [](const std::string& status) {
    return facts<ClusterQueueFacts>(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"status":)" +
        status + "}");
  };
  const std::string ref =
      R"("orchestratorRef":{"apiGroup":"kueue.x-k8s.io","kind":"DynamicQuotaOrchestrator","name":"dqo"})";
  const std::string groups =
      R"("resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[
         {"name":"cpu","nominalQuota":"1500m","lendingLimit":"1"}]}]}])";
  const OrchestratorRef dqo{"kueue.x-k8s.io", "DynamicQuotaOrchestrator", "dqo"};

  const auto full = queue(R"({"effectiveQuotas":{)" + ref + "," + groups + "}}");
  REQUIRE(full.effective);
  CHECK(full.effective->orchestrator == dqo);
  REQUIRE(full.effective->groups.size() == 1);
  CHECK(full.effective->groups[0].flavors[0].resources[0].nominal.text() == "1500m");
  CHECK(full.groups.empty());
  CHECK_FALSE(queue("{}").effective);
  CHECK_FALSE(queue(R"({"effectiveQuotas":null})").effective);
  CHECK(queue(R"({"effectiveQuotas":{)" + ref + R"(,"resourceGroups":[]}})").effective ==
        EffectiveQuotas{dqo, {}});
  CHECK(queue(R"({"effectiveQuotas":{)" + ref + "}}").effective == EffectiveQuotas{dqo, {}});
  CHECK(queue(R"({"effectiveQuotas":{}})").effective == EffectiveQuotas{});

  for (const char* version : {"v1beta1", "v1beta2"}) {
    const auto cohort = facts<CohortFacts>(
        R"({"apiVersion":"kueue.x-k8s.io/)" + std::string(version) +
        R"(","kind":"Cohort","metadata":{"name":"c"},"spec":{"parentName":"org"},"status":{"effectiveQuotas":{)" +
        ref + "," + groups + "}}}");
    CHECK(cohort.parent == "org");
    CHECK(cohort.effective == full.effective);
  }
  CHECK(
      facts<CohortFacts>(
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"c"},"spec":{}})") ==
      CohortFacts{"", std::nullopt, CohortTerms{}});
}

TEST_CASE("a ClusterQueue gives the same facts in v1beta1 and v1beta2") {
  auto text = [](const char* version, const char* cohort, const char* checks) {
    return std::string(R"({"apiVersion":"kueue.x-k8s.io/)") + version +
           R"(","kind":"ClusterQueue","metadata":{"name":"q","annotations":
      {"fairlead.io/base-quota":"{\"f\":{\"cpu\":\"1\"}}","fairlead.io/extend-resource-groups":"true"}},"spec":{")" +
           cohort + R"(":"org",)" + checks +
           R"(,"namespaceSelector":{ },"preemption":{"b":1,"a":2},"queueingStrategy":"StrictFIFO","stopPolicy":"Hold",
      "resourceGroups":[{"coveredResources":["memory","cpu"],"flavors":[{"name":"z","resources":[
        {"name":"memory","nominalQuota":"1024Mi","borrowingLimit":"1Gi"},{"name":"cpu","nominalQuota":12,"lendingLimit":"x"}]},
        {"name":"a","resources":[{"name":"memory","nominalQuota":"0"},{"name":"cpu"}]}]}]},
      "status":{"conditions":[{"type":"Active","status":"True","reason":"Ready","observedGeneration":2}],
        "flavorsUsage":[{"name":"z","resources":[{"name":"memory","total":"1Gi"},{"name":"cpu","total":"1500m","borrowed":"0"}]}]}})";
  };
  auto two = facts<ClusterQueueFacts>(text(
      "v1beta2", "cohortName",
      R"("admissionChecksStrategy":{"admissionChecks":[{"name":"y"},{"name":"x","onFlavors":["z"]}]})"));
  auto one = facts<ClusterQueueFacts>(text("v1beta1", "cohort", R"("admissionChecks":["y","x"])"));
  REQUIRE(two.sharing);
  CHECK(two.sharing->check_flavors == R"([{"name":"y"},{"name":"x","onFlavors":["z"]}])");
  two.sharing->check_flavors.clear();  // v1beta1 has no flavors in its plain list
  CHECK(one == two);
  CHECK(two.cohort == "org");
  CHECK(two.namespace_selector == "{}");
  CHECK(two.preemption == R"({"a":2,"b":1})");
  CHECK(two.queueing_strategy == "StrictFIFO");
  CHECK(two.stop_policy == "Hold");
  CHECK(two.admission_checks == std::vector<std::string>{"x", "y"});
  CHECK(two.base_quota == R"({"f":{"cpu":"1"}})");
  CHECK(two.extend_resource_groups);
  CHECK(two.active == ConditionFacts{ConditionStatus::yes, "Ready", 2});
  CHECK(two.usage == std::vector<FlavorUsage>{{"z", "cpu", 1500}, {"z", "memory", 1 << 30}});
  REQUIRE(two.groups.size() == 1);
  CHECK(two.groups[0].covered_resources == std::vector<std::string>{"memory", "cpu"});
  CHECK(two.groups[0].flavors[0].name == "z");
  const auto& cpu = two.groups[0].flavors[0].resources[1];
  CHECK_FALSE(cpu.lending_limit);
  CHECK(two.groups[0].flavors[0].resources[0].borrowing_limit->text() == "1Gi");
  CHECK(two.groups[0].flavors[1].resources[1].nominal.nano() == 0);
}

TEST_CASE("a quota keeps the text that it was written with, where that is not canonical") {
  const auto queue = facts<ClusterQueueFacts>(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"resourceGroups":[
    {"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[
      {"name":"cpu","nominalQuota":"12000m","borrowingLimit":"0.5","lendingLimit":"3"}]}]}]}})");
  const ResourceQuota& cpu = queue.groups[0].flavors[0].resources[0];
  CHECK(cpu.nominal == *Quantity::parse("12"));
  CHECK(cpu.nominal.as_written() == "12000m");
  CHECK(cpu.nominal.text() == "12");
  CHECK(cpu.borrowing_limit->as_written() == "0.5");
}

TEST_CASE("a LocalQueue tells whether it admits") {
  const auto queue = facts<LocalQueueFacts>(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"l","namespace":"n"},
    "spec":{"clusterQueue":"q","stopPolicy":"HoldAndDrain"},
    "status":{"conditions":[{"type":"Active","status":"False","reason":"Stopped","observedGeneration":7}]}})");
  CHECK(queue == LocalQueueFacts{"q", "HoldAndDrain", {ConditionStatus::no, "Stopped", 0}});
}

TEST_CASE(
    "our ManifestWork tells what it carries, whether it is applied and what the member reports") {
  auto work = facts<ManifestWorkFacts>(
      R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"fairlead-quota","namespace":"c2"},
    "spec":{"workload":{"manifests":[
      {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"resourceGroups":[{"coveredResources":["cpu"],
        "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"5"}]}]}]}},
      {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"l","namespace":"n"},"spec":{"clusterQueue":"q"}},
      {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}]}},
    "status":{"conditions":[{"type":"Applied","status":"True","observedGeneration":2,"reason":"A"},{"type":"Available","status":"False","observedGeneration":1,"reason":"B"}],
      "resourceStatus":{"manifests":[
        {"resourceMeta":{"resource":"clusterqueues","name":"q"},"statusFeedback":{"values":[
          {"name":"active","fieldValue":{"type":"String","string":"True"}},
          {"name":"activeReason","fieldValue":{"type":"String","string":"Ready"}},
          {"name":"usage","fieldValue":{"type":"JsonRaw","jsonRaw":"[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"total\":\"2\"}]}]"}}]},"conditions":[{"type":"StatusFeedbackSynced","status":"True"}]},
        {"resourceMeta":{"resource":"clusterqueues","name":"b"},"statusFeedback":{"values":[{"name":"usage","fieldValue":{"type":"JsonRaw","jsonRaw":"{"}}]}},
        {"resourceMeta":{"resource":"namespaces","name":"n"}}]}}})");
  CHECK(work.quotas == std::vector<WorkQuota>{{"q", "f", "cpu", 5000}});
  CHECK(work.local_queues == std::vector<WorkLocalQueue>{{"n", "l", "q"}});
  CHECK(work.applied == ConditionFacts{ConditionStatus::yes, "A", 2});
  CHECK(work.available == ConditionFacts{ConditionStatus::no, "B", 1});
  REQUIRE(work.feedback.size() == 2);
  CHECK(work.feedback[0] == WorkFeedback{"b", ConditionStatus::absent, false, {}, "", {}});
  CHECK(work.feedback[1] ==
        WorkFeedback{
            "q", ConditionStatus::yes, true, {{"f", "cpu", 2000}}, "Ready", ConditionStatus::yes});
  auto bare = facts<ManifestWorkFacts>(
      R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"fairlead-x"},"spec":{"executor":{},"workload":{"manifests":[{"b":1,"a":[ 2 ]}]}}})");
  CHECK(bare.spec_digest == sha256(R"([{"a":[2],"b":1}])"));
  CHECK(bare.feedback_digest == sha256(""));
}

TEST_CASE("the feedback of a work has the usage of each pair in a value of its own") {
  const auto work = facts<ManifestWorkFacts>(
      R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"fairlead-quota"},
    "status":{"resourceStatus":{"manifests":[
        {"resourceMeta":{"resource":"clusterqueues","name":"q"},"statusFeedback":{"values":[
          {"name":"usage/g/memory","fieldValue":{"type":"String","string":"1Gi"}},
          {"name":"usage/f/nvidia.com/gpu","fieldValue":{"type":"String","string":"2"}},
          {"name":"usage/f/cpu","fieldValue":{"type":"String","string":"1500m"}}]}},
        {"resourceMeta":{"resource":"clusterqueues","name":"r"},"statusFeedback":{"values":[
          {"name":"usage/f","fieldValue":{"type":"String","string":"2"}},
          {"name":"usage/f/cpu","fieldValue":{"type":"String","string":"many"}}]}}]}}})");
  REQUIRE(work.feedback.size() == 2);
  CHECK(work.feedback[0].has_usage);
  CHECK(work.feedback[0].usage == std::vector<FlavorUsage>{{"f", "cpu", 1500},
                                                           {"f", "nvidia.com/gpu", 2},
                                                           {"g", "memory", 1LL << 30}});
  CHECK(work.feedback[1] == WorkFeedback{"r", ConditionStatus::absent, false, {}, "", {}});
}

TEST_CASE("our ManifestWork tells which ResourceFlavors its deletion leaves at the member") {
  const auto flavors_with = [](const std::string& option) {
    return facts<ManifestWorkFacts>(
               R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"fairlead-quota"},"spec":{)" +
               option + R"("workload":{"manifests":[
        {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"od"}},
        {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"od"}}]}}})")
        .flavors;
  };
  const auto rule = [](const std::string& fields) {
    return R"("deleteOption":{"propagationPolicy":"SelectivelyOrphan","selectivelyOrphans":{"orphaningRules":[{)" +
           fields + "}]}},";
  };
  using Flavors = std::vector<WorkFlavor>;
  CHECK(flavors_with("") == Flavors{{"od", false}});
  CHECK(
      flavors_with(rule(
          R"("group":"kueue.x-k8s.io","resource":"resourceflavors","namespace":"","name":"od")")) ==
      Flavors{{"od", true}});
  CHECK(flavors_with(rule(R"("group":"kueue.x-k8s.io","resource":"clusterqueues","name":"od")")) ==
        Flavors{{"od", false}});
  CHECK(flavors_with(R"("deleteOption":{"propagationPolicy":"Orphan"},)") == Flavors{{"od", true}});
  // The rules count under SelectivelyOrphan alone.
  CHECK(
      flavors_with(
          R"("deleteOption":{"propagationPolicy":"Foreground","selectivelyOrphans":{"orphaningRules":[
              {"group":"kueue.x-k8s.io","resource":"resourceflavors","name":"od"}]}},)") ==
      Flavors{{"od", false}});
}

TEST_CASE("a ManifestWork that is being deleted tells what holds it") {
  const auto held = [](const std::string& metadata) {
    return facts<ManifestWorkFacts>(
               R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"fairlead-quota",)" +
               metadata + R"("finalizers":["b","a"]},"spec":{}})")
        .finalizers;
  };
  CHECK(held(R"("deletionTimestamp":"2026-01-01T00:00:00Z",)") ==
        std::vector<std::string>{"a", "b"});
  CHECK(held("").empty());
}

TEST_CASE("our BindingPolicy tells what it says, whose it is and what the space makes of it") {
  const auto policy = facts<BindingPolicyFacts>(
      R"({"apiVersion":"control.kubestellar.io/v1alpha1","kind":"BindingPolicy","metadata":{"name":"fairlead-c2",
    "labels":{"app.kubernetes.io/managed-by":"fairlead"}},
    "spec":{"downsync":[{"resources":["namespaces"],"objectNames":["b","a"]},{"resources":["localqueues"],"objectNames":["l"]},{"resources":["resourceflavors"],"objectNames":["spot","od"]}]},
    "status":{"observedGeneration":4,"errors":["first","second"],"conditions":[{"type":"Synced","status":"False","reason":"R"}]}})");
  CHECK(
      policy.spec_digest ==
      sha256(
          R"({"downsync":[{"objectNames":["b","a"],"resources":["namespaces"]},{"objectNames":["l"],"resources":["localqueues"]},{"objectNames":["spot","od"],"resources":["resourceflavors"]}]})"));
  CHECK(policy.namespaces == std::vector<std::string>{"a", "b"});
  CHECK(policy.flavors == std::vector<std::string>{"od", "spot"});
  CHECK(policy.ours);
  CHECK(policy.observed_generation == 4);
  CHECK(policy.synced == ConditionFacts{ConditionStatus::no, "R", 0});
  CHECK(policy.error == "first");
  CHECK_FALSE(
      facts<BindingPolicyFacts>(
          R"({"apiVersion":"control.kubestellar.io/v1alpha1","kind":"BindingPolicy","metadata":{"name":"fairlead-c2"}})")
          .ours);
  CHECK_FALSE(is_read(R"({"apiVersion":"control.kubestellar.io/v1alpha1","kind":"BindingPolicy",
    "metadata":{"name":"theirs"}})"));
}

TEST_CASE("a ManagedCluster is labelled if its label `name` is its own name") {
  const auto labelled = [](const std::string& labels) {
    return facts<ManagedClusterFacts>(
               R"({"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster","metadata":{"name":"c2")" +
               labels + "}}")
        .labelled;
  };
  CHECK(labelled(R"(,"labels":{"name":"c2","more":"x"})"));
  CHECK_FALSE(labelled(R"(,"labels":{"name":"c3"})"));
  CHECK_FALSE(labelled(""));
}

namespace {
ClaimFacts claim(const std::string& spec, const std::string& metadata = "",
                 const std::string& status = "{}") {
  return facts<ClaimFacts>(
      R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":"c")" +
      metadata + R"(},"spec":)" + spec + R"(,"status":)" + status + "}");
}
}  // namespace

TEST_CASE("a claim keeps everything its author said, quantities canonical") {
  ClaimFacts out = claim(
      R"({"clusterName":"c2","nominalResources":{"cpu":"1000","memory":"1000Gi","gpu":10},
    "resourceAssignments":[{"clusterQueueName":"q","flavor":"f","resources":{"cpu":"500000m"},"minResources":{"cpu":"1k"},"priority":-7},
      {"clusterQueueName":"r","flavor":"f","resources":{"cpu":"lots"}}],
    "nominalPolicy":"TrackCapacity","headroom":{"percent":{"cpu":3,"memory":"7"},"reserved":{}},"shrinkPolicy":"Priority","flavorCapacity":"Strict"})",
      R"(,"creationTimestamp":"1970-01-01T00:00:02Z","deletionTimestamp":"1970-01-01T00:00:03Z","finalizers":["b","a"],
       "annotations":{"fairlead.io/debounce.growWindow":"5s","other":"x"})",
      R"({"grants":[{"clusterQueueName":"q","flavor":"f","resource":"gpu","granted":5},{"clusterQueueName":"q","flavor":"f","resource":"cpu","granted":"5000m"},{"clusterQueueName":"q","granted":"?"}]})");
  CHECK(out.spec.malformed.empty());
  CHECK(out.spec.cluster_name == "c2");
  CHECK(out.spec.nominal_resources ==
        std::map<std::string, std::string>{{"cpu", "1k"}, {"gpu", "10"}, {"memory", "1000Gi"}});
  REQUIRE(out.spec.assignments.size() == 2);
  CHECK(out.spec.assignments[0].resources.at("cpu") == "500");
  CHECK(out.spec.assignments[0].min_resources.at("cpu") == "1k");
  CHECK(out.spec.assignments[0].priority == -7);
  CHECK(out.spec.assignments[1].resources.at("cpu") == "lots");
  CHECK_FALSE(out.spec.assignments[1].priority);
  CHECK(out.spec.nominal_policy == "TrackCapacity");
  CHECK(out.spec.shrink_policy == "Priority");
  CHECK(out.spec.flavor_capacity == "Strict");
  CHECK(*out.spec.headroom.percent ==
        std::map<std::string, std::string>{{"cpu", "3"}, {"memory", "7"}});
  CHECK(out.spec.headroom.reserved->empty());
  CHECK(out.created == LogTime{} + seconds(2));
  CHECK(out.deleting);
  CHECK(out.finalizers == std::vector<std::string>{"b", "a"});
  CHECK(out.debounce == std::map<std::string, std::string>{{"growWindow", "5s"}});
  CHECK(out.status_grants ==
        std::vector<ClaimGrant>{{"q", "f", "cpu", "5"}, {"q", "f", "gpu", "5"}});
}

TEST_CASE("the first field of the wrong JSON type is named with what was there") {
  CHECK(claim(R"({"nominalResources":{"cpu":[1]}})").spec.malformed ==
        "spec.nominalResources.cpu: expected a quantity, got an array");
  CHECK(claim(R"({"clusterName":7})").spec.malformed ==
        "spec.clusterName: expected a string, got 7");
  CHECK(claim(R"({"nominalResources":[]})").spec.malformed ==
        "spec.nominalResources: expected an object, got an array");
  CHECK(claim(R"({"resourceAssignments":{}})").spec.malformed ==
        "spec.resourceAssignments: expected an array, got an object");
  CHECK(claim(R"({"resourceAssignments":["x"]})").spec.malformed ==
        "spec.resourceAssignments[0]: expected an object, got a string");
  CHECK(claim(R"({"resourceAssignments":[{},{"priority":1.5}]})").spec.malformed ==
        "spec.resourceAssignments[1].priority: expected a 32-bit integer, got 1.5");
  CHECK(claim(R"({"resourceAssignments":[{"priority":3000000000,"resources":{"cpu":true}}]})")
            .spec.malformed ==
        "spec.resourceAssignments[0].resources.cpu: expected a quantity, got a boolean");
  CHECK(claim(R"({"headroom":{"percent":{"cpu":{}}}})").spec.malformed ==
        "spec.headroom.percent.cpu: expected an integer, got an object");
  CHECK(claim(R"({"headroom":3,"nominalPolicy":[]})").spec.malformed ==
        "spec.nominalPolicy: expected a string, got an array");
  CHECK(claim("7").spec.malformed == "spec: expected an object, got 7");
  CHECK(claim(R"({"clusterName":null,"headroom":null,"resourceAssignments":null})")
            .spec.malformed.empty());
  CHECK(claim("null").spec.malformed.empty());
}

TEST_CASE("raw text is canonical and carries no managedFields, secrets or environment values") {
  auto document = parse_json(
      R"({"spec":{"manifests":[{"kind":"Secret","data":{"a":"QQ=="},"stringData":{"b":"c"},"metadata":{"name":"s"}},
    {"kind":"Pod","spec":{"containers":[{"env":[{"name":"TOKEN","value":"hunter2"}]}]}}]},
    "metadata":{"name":"x","managedFields":[1],"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}",
      "tenancy.x-k8s.io/admin-kubeconfig":"hunter2","b":"1"}},"n":1.50})");
  CHECK(
      raw_text(document->root()) ==
      R"({"metadata":{"annotations":{"b":"1"},"name":"x"},"n":1.50,"spec":{"manifests":[{"kind":"Secret","metadata":{"name":"s"}},)"
      R"({"kind":"Pod","spec":{"containers":[{"env":[{"name":"TOKEN"}]}]}}]}})");
}

TEST_CASE("what is kept of a watch line is made when it is asked for, and is the same") {
  const std::string object =
      R"({"metadata":{"name":"q","managedFields":[1]},"a\u0062":"x\n","spec":{"x":1.50}})";
  const std::string line = R"({"type":"ADDED", "object":)" + object + "}";
  const auto document = parse_json(line);
  REQUIRE(document.has_value());
  const JsonView seen = document->root()["object"];
  for (const Kind kind : {Kind::cluster_queue, Kind::claim, Kind::node})
    CHECK(raw_of_line(kind, line).kept() == raw_to_keep(kind, seen));
  CHECK(raw_of_line(Kind::claim, line).text == line);
  CHECK(raw_of_line(Kind::node, line).text.empty());
  // A line that is too long to be carried along is cut at once.
  const std::string longer =
      line.substr(0, line.size() - 1) + R"(,"x":")" + std::string(kRawBytesMax, 'y') + "\"}";
  const RawObject cut = raw_of_line(Kind::claim, longer);
  CHECK(cut.kept_of == nullptr);
  CHECK(cut.kept() == raw_to_keep(Kind::claim, seen));
}

TEST_CASE("what people write is kept as they wrote it, what machines write is not") {
  const auto kept = [](Kind kind, const std::string& text) {
    const auto document = parse_json(text);
    REQUIRE(document.has_value());
    return raw_to_keep(kind, document->root());
  };
  const std::string queue =
      R"({"metadata":{"name":"q","managedFields":[{"manager":"m"}]},"spec":{"x":1}})";
  CHECK(kept(Kind::cluster_queue, queue) == R"({"metadata":{"name":"q"},"spec":{"x":1}})");
  CHECK(kept(Kind::node, queue).empty());
  const std::string long_one =
      R"({"metadata":{"name":")" + std::string(kRawBytesMax, 'q') + R"("}})";
  CHECK(kept(Kind::cluster_queue, long_one).empty());
}
