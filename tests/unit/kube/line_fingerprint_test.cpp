#include "connectors/kube/watch/line_fingerprint.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/watch_decoder.h"
#include "engine/base/json.h"

using namespace fairlead;

namespace {

std::optional<LineFingerprint> fingerprint(const LineFingerprinter& fingerprinter, JsonIndex& index,
                                           const std::string& line) {
  REQUIRE(index.find(line));
  std::vector<PlaceRange> left_out;
  return fingerprinter.fingerprint(index, left_out);
}

LineFingerprint::Hash rest(Kind kind, const std::string& line) {
  static JsonIndex index;
  auto seen = fingerprint(LineFingerprinter(kind), index, line);
  REQUIRE(seen.has_value());
  return seen->rest;
}

std::string line_of(const Json& object) {
  return to_text(Json{{"type", "MODIFIED"}, {"object", object}});
}

Facts facts_of(const Json& object) {
  const JsonDocument document = to_document(object);
  auto seen = project(document.root());
  REQUIRE((seen.has_value() && seen->has_value()));
  return (*seen)->facts;
}

// Every value below `value`, by its path.
void each_path(const Json& value, const Json::json_pointer& at,
               std::vector<Json::json_pointer>& out) {
  out.push_back(at);
  if (value.is_object())
    for (const auto& [name, member] : value.items()) each_path(member, at / name, out);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) each_path(value[i], at / i, out);
}

// Objects with everything that a projection reads, and much that none does.
const std::vector<std::string> kObjects{
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"u","resourceVersion":"7",
      "labels":{"pool":"a","zone":"b"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","x":"y"},
      "managedFields":[{"manager":"kubelet"}]},
      "spec":{"unschedulable":true,"podCIDR":"10.0.0.0/24","taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},
      "status":{"allocatable":{"cpu":"4","memory":"8Gi"},"capacity":{"cpu":"5"},
        "conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"1","message":"m"},
                      {"type":"Ready","status":"True","lastHeartbeatTime":"1","lastTransitionTime":"1","reason":"r","message":"m"}],
        "images":[{"names":["a","b"],"sizeBytes":1}],"nodeInfo":{"kubeletVersion":"v1"},"addresses":[{"type":"InternalIP","address":"1"}],
        "volumesInUse":["v"],"volumesAttached":[{"name":"v"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":1}},"runtimeHandlers":[{"name":""}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q","uid":"u","resourceVersion":"7","generation":3,
      "deletionTimestamp":"2026-01-01T00:00:00Z","annotations":{"fairlead.io/base-quota":"{}","fairlead.io/extend-resource-groups":"true"},
      "managedFields":[{"manager":"m","operation":"Update","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:resourceGroups":{}}}}]},
      "spec":{"fairSharing":{"weight":"2"},"flavorFungibility":{"whenCanBorrow":"TryNextFlavor"},
        "admissionScope":{"admissionMode":"NoAdmissionFairSharing"},"concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission"}},
        "cohortName":"c","queueingStrategy":"StrictFIFO","stopPolicy":"Hold","namespaceSelector":{},"preemption":{"withinClusterQueue":"Any"},
        "admissionChecksStrategy":{"admissionChecks":[{"name":"x","onFlavors":["f"]}]},
        "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[
          {"name":"cpu","nominalQuota":"1","borrowingLimit":"2","lendingLimit":"3"}]}]}]},
      "status":{"pendingWorkloads":3,"reservingWorkloads":1,"admittedWorkloads":2,"fairSharing":{"weightedShare":1},
        "pendingWorkloadsStatus":{"clusterQueuePendingWorkload":[]},
        "flavorsReservation":[{"name":"f","resources":[{"name":"cpu","total":"1"}]}],
        "flavorsUsage":[{"name":"f","resources":[{"name":"cpu","total":"1","borrowed":"0"}]}],
        "effectiveQuotas":{"orchestratorRef":{"apiGroup":"g","kind":"k","name":"n"},"resourceGroups":[{"coveredResources":["cpu"],
          "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1","borrowingLimit":"2","lendingLimit":"3"}]}]}]},
        "conditions":[{"type":"Active","status":"True","reason":"Ready","message":"m","observedGeneration":3,"lastTransitionTime":"1"}]}})",
    R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterMetrics","metadata":{"name":"c","uid":"u","resourceVersion":"7"},
      "status":{"nodes":[{"name":"n","allocatableResources":{"cpu":"4"},"capacityResources":{"cpu":"5"},"labels":{"a":"b"},
        "taints":[{"key":"k","effect":"NoSchedule"}],"unschedulable":true,"usage":{"cpu":"1"},"requests":{"cpu":"1"},"limits":{"cpu":"1"}}]}})",
    R"({"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster","metadata":{"name":"c","uid":"u","resourceVersion":"7",
      "annotations":{"a":"b"},"labels":{"name":"c"},"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"hubAcceptsClient":true},
      "status":{"allocatable":{"cpu":"4"},"capacity":{"cpu":"5"},"version":{"kubernetes":"v1"},"clusterClaims":[{"name":"n","value":"v"}],
        "conditions":[{"type":"ManagedClusterConditionAvailable","status":"True","reason":"r","message":"m","lastTransitionTime":"1"}]}})",
    R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":{"name":"c","namespace":"n","uid":"u","resourceVersion":"7",
      "labels":{"open-cluster-management.io/cluster-name":"d"}},"spec":{"displayName":"x"},"status":{"version":{"kubernetes":"v1"},
      "properties":[{"name":"a","value":"b"}],"conditions":[{"type":"ControlPlaneHealthy","status":"True"}],
      "accessProviders":[{"name":"google","cluster":{"server":"s"}}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f","uid":"u","resourceVersion":"7"},
      "spec":{"nodeLabels":{"a":"b"},"nodeTaints":[{"key":"k","value":"v","effect":"NoSchedule"}],
        "tolerations":[{"key":"k","operator":"Exists","value":"v","effect":"NoSchedule"}],"topologyName":"t"}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"l","namespace":"n","uid":"u","resourceVersion":"7"},
      "spec":{"clusterQueue":"q","stopPolicy":"Hold"},"status":{"pendingWorkloads":1,"reservingWorkloads":1,"admittedWorkloads":1,
        "flavorsReservation":[{"name":"f","resources":[{"name":"cpu","total":"1"}]}],"fairSharing":{"weightedShare":1},
        "flavorsUsage":[{"name":"f","resources":[{"name":"cpu","total":"1"}]}],"flavors":[{"name":"f","resources":["cpu"]}],
        "conditions":[{"type":"Active","status":"True","reason":"Ready","message":"m","observedGeneration":1,"lastTransitionTime":"1"}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"a","uid":"u","resourceVersion":"7"},
      "spec":{"controllerName":"c","parameters":{"apiGroup":"g","kind":"k","name":"n"}},"status":{"conditions":[
        {"type":"Active","status":"True","reason":"r","message":"m","lastTransitionTime":"1","observedGeneration":1}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueConfig","metadata":{"name":"m","uid":"u","resourceVersion":"7"},
      "spec":{"clusters":["a","b"],"quotaManagement":"Automated"},"status":{"conditions":[]}})",
    R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"fairlead-quota","namespace":"c","uid":"u",
      "resourceVersion":"7","generation":2},"spec":{"workload":{"manifests":[
        {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"resourceGroups":[{"coveredResources":["cpu"],
          "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}},
        {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"l","namespace":"n"},"spec":{"clusterQueue":"q"}}]}},
      "status":{"conditions":[{"type":"Applied","status":"True","reason":"r","observedGeneration":2,"message":"m"},
          {"type":"Available","status":"True","reason":"r","observedGeneration":2,"lastTransitionTime":"1"}],
        "resourceStatus":{"manifests":[{"resourceMeta":{"resource":"clusterqueues","name":"q"},"conditions":[{"type":"Applied","status":"True"}],
          "statusFeedback":{"values":[{"name":"active","fieldValue":{"type":"String","string":"True"}},
            {"name":"usage","fieldValue":{"type":"JsonRaw","jsonRaw":"[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"total\":\"1\"}]}]"}}]}}]}}})",
    R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":"c","uid":"u","resourceVersion":"7","generation":1,
      "creationTimestamp":"2026-01-01T00:00:00Z","finalizers":["fairlead.io/claim"],"annotations":{"fairlead.io/debounce.growWindow":"1s"}},
      "spec":{"clusterName":"c","nominalResources":{"cpu":"4"},"nominalPolicy":"Fixed","shrinkPolicy":"Priority","flavorCapacity":"Auto",
        "headroom":{"percent":{"cpu":1},"reserved":{"cpu":"1"}},
        "resourceAssignments":[{"clusterQueueName":"q","flavor":"f","priority":1,"resources":{"cpu":"1"},"minResources":{"cpu":"1"}}]},
      "status":{"grants":[{"clusterQueueName":"q","flavor":"f","resource":"cpu","granted":"1"}],
        "conditions":[{"type":"Valid","status":"True","message":"m","lastTransitionTime":"1"}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueCluster","metadata":{"name":"m","uid":"u","resourceVersion":"7",
      "labels":{"app.kubernetes.io/managed-by":"fairlead"},"annotations":{"fairlead.io/owner":"placement/gpu"}},
      "spec":{"clusterSource":{"kubeConfig":{"location":"s","locationType":"Secret"}}},
      "status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"m","observedGeneration":1,"lastTransitionTime":"1"}]}})",
    R"({"apiVersion":"cluster.open-cluster-management.io/v1beta1","kind":"Placement","metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"7"},
      "spec":{"clusterSets":["fleet"],"prioritizerPolicy":{"mode":"Exact","configurations":[
        {"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"r","scoreName":"s"}},"weight":2}]}},
      "status":{"numberOfSelectedClusters":2,"conditions":[{"type":"PlacementSatisfied","status":"True"}]}})",
    R"({"apiVersion":"cluster.open-cluster-management.io/v1beta1","kind":"PlacementDecision","metadata":{"name":"p-1","namespace":"n","uid":"u",
      "resourceVersion":"7","labels":{"cluster.open-cluster-management.io/placement":"p"}},
      "status":{"decisions":[{"clusterName":"a","reason":"r"},{"clusterName":"b","reason":""}]}})",
    R"({"apiVersion":"cluster.open-cluster-management.io/v1alpha1","kind":"AddOnPlacementScore","metadata":{"name":"r","namespace":"a","uid":"u",
      "resourceVersion":"7"},"spec":{},"status":{"validUntil":"2026-01-01T00:00:00Z","scores":[{"name":"s","value":3}],
        "conditions":[{"type":"Calculated","status":"True","message":"m"}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"n","uid":"u","resourceVersion":"7","generation":2,
      "labels":{"a":"b"},"annotations":{"c":"d"},"ownerReferences":[{"kind":"Job"}],"deletionTimestamp":"2026-01-01T00:00:00Z",
      "creationTimestamp":"2026-01-01T00:00:00Z"},
      "spec":{"queueName":"q","active":true,"maximumExecutionTimeSeconds":9,"preemptionGates":[{"name":"g"}],"priority":3,
        "priorityClassName":"high","priorityClassRef":{"name":"high"},"priorityClassSource":"","podSets":[
          {"name":"main","count":1,"minCount":1,"topologyRequest":{"required":"rack"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{
            "containers":[{"name":"c","image":"i","imagePullPolicy":"Always","args":["a"],"command":["b"],"env":[{"name":"e","value":"v"}],
              "envFrom":[{"configMapRef":{"name":"c"}}],"lifecycle":{"preStop":{}},"livenessProbe":{"exec":{}},"ports":[{"containerPort":1}],
              "readinessProbe":{"exec":{}},"startupProbe":{"exec":{}},"securityContext":{"runAsUser":1},"terminationMessagePath":"p",
              "terminationMessagePolicy":"File","volumeMounts":[{"name":"v"}],
              "resources":{"requests":{"example.com/gpu":"2"},"limits":{"example.com/gpu":"2","example.com/nic":"1"}}}],
            "initContainers":[{"name":"s","image":"i","args":["a"],"command":["b"],"env":[{"name":"e"}],"volumeMounts":[{"name":"v"}],
              "resources":{"requests":{"example.com/gpu":"3"}}}],
            "resourceClaims":[{"name":"r","resourceClaimTemplateName":"t"},{"name":"n","resourceClaimName":"c"}],
            "nodeSelector":{"a":"b"},"tolerations":[{"key":"k","operator":"Exists","value":"v","effect":"NoSchedule","tolerationSeconds":3}],
            "affinity":{"podAffinity":{"a":1},"podAntiAffinity":{"a":1},"nodeAffinity":{
              "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                {"matchExpressions":[{"key":"k","operator":"In","values":["v"]}],
                  "matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}},
            "dnsPolicy":"Default","restartPolicy":"Never","schedulerName":"s","schedulingGates":[{"name":"g"}],"securityContext":{"runAsUser":1},
            "serviceAccountName":"s","terminationGracePeriodSeconds":3,"topologySpreadConstraints":[{"maxSkew":1}],"volumes":[{"name":"v"}]}}}]},
      "status":{"clusterName":"c","nominatedClusterNames":["c","d"],"admission":{"clusterQueue":"q","podSetAssignments":[
          {"name":"main","count":1,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"1"},"topologyAssignment":{"levels":["a"]},
            "delayedTopologyRequest":"Pending"}]},"requeueState":{"count":1},
        "reclaimablePods":[{"name":"main","count":1}],"accumulatedPastExecutionTimeSeconds":3,"resourceRequests":[{"name":"main"}],
        "schedulingStats":{"evictions":[]},"unhealthyNodes":[{"name":"n"}],"preemptionGates":[{"name":"g"}],
        "admissionChecks":[{"name":"gpu","state":"Ready","message":"m","lastTransitionTime":"1","podSetUpdates":[{"name":"main"}],
          "retryCount":1,"requeueAfterSeconds":5}],
        "conditions":[{"type":"QuotaReserved","status":"True","reason":"r","message":"m","lastTransitionTime":"1"},
          {"type":"Evicted","status":"False"},{"type":"Finished","status":"False"},
          {"type":"fairlead.io/DevicesReserved","status":"False","reason":"NoCluster","message":"m","observedGeneration":2}]}})",
    R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n","uid":"u","resourceVersion":"7"},"type":"Opaque",
      "data":{"kubeconfig":"YQ==","ca":"Yg=="}})",
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"multikueueconfigs.kueue.x-k8s.io","uid":"u",
      "resourceVersion":"7"},"spec":{"group":"kueue.x-k8s.io","conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"caBundle":"YQ=="}}},
        "names":{"plural":"multikueueconfigs"},"versions":[{"name":"v1beta2","served":true,"storage":true,"schema":{"openAPIV3Schema":{
          "properties":{"spec":{"properties":{"clusters":{"type":"array","maxItems":20}}}}}}}]},"status":{"storedVersions":["v1beta2"]}})",
    R"({"apiVersion":"control.kubestellar.io/v1alpha1","kind":"BindingPolicy","metadata":{"name":"fairlead-c","uid":"u","resourceVersion":"7","generation":2,
      "labels":{"app.kubernetes.io/managed-by":"fairlead"},"managedFields":[{"manager":"m"}]},
      "spec":{"clusterSelectors":[{"matchLabels":{"name":"c"}}],"downsync":[{"apiGroup":"","resources":["namespaces"],"objectNames":["t"]}]},
      "status":{"observedGeneration":2,"errors":["e"],"conditions":[{"type":"Synced","status":"False","reason":"r","message":"m","lastTransitionTime":"1"}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"c","uid":"u","resourceVersion":"7","generation":2,
      "managedFields":[{"manager":"m","operation":"Update","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:fairSharing":{"f:weight":{}}}}}]},
      "spec":{"parentName":"p","fairSharing":{"weight":"1"},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[
        {"name":"cpu","nominalQuota":"1","borrowingLimit":"2","lendingLimit":"3"}]}]}]},
      "status":{"fairSharing":{"weightedShare":1},"effectiveQuotas":{"orchestratorRef":{"apiGroup":"g","kind":"k","name":"n"},
        "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}}})",
    R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicy","metadata":{"name":"p","uid":"u","resourceVersion":"7",
      "generation":2,"labels":{"fairlead.io/clears-nominations":"true"},"deletionTimestamp":"1","managedFields":[{"manager":"m"}]},
      "spec":{"failurePolicy":"Ignore","matchConstraints":{"resourceRules":[{"resources":["workloads/status"]}]},
        "mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[]"}}]}})",
    R"({"apiVersion":"tenancy.x-k8s.io/v1alpha1","kind":"VirtualCluster","metadata":{"name":"acme","namespace":"n","uid":"u","resourceVersion":"7",
      "annotations":{"fairlead.io/pool-limit":"{}","tenancy.x-k8s.io/secret.admin-kubeconfig":"s"},"managedFields":[{"manager":"m"}]},
      "spec":{"clusterVersionName":"v"},"status":{"phase":"Running","clusterNamespace":"n-acme","message":"m"}})",
    R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web","uid":"u","resourceVersion":"7","deletionTimestamp":"1",
      "annotations":{"scheduler.virtualcluster.io/placements":"{}","scheduler.virtualcluster.io/slice":"{}","fairlead.io/pool-policy":"pack",
        "fairlead.io/pool-reason":"BadSlice","tenancy.x-k8s.io/cluster":"acme","tenancy.x-k8s.io/namespace":"web","tenancy.x-k8s.io/uid":"1"}},
      "spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})",
    R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"web","uid":"u","resourceVersion":"7"},
      "spec":{"hard":{"cpu":"1","requests.cpu":"2","memory":"1Gi","requests.memory":"2Gi","pods":"3"},"scopes":["BestEffort"]},
      "status":{"used":{"cpu":"1"}}})",
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"web","uid":"u","resourceVersion":"7","deletionTimestamp":"1",
      "annotations":{"scheduler.virtualcluster.io/superCluster":"r1","fairlead.io/pool-reason":"x","kueue.x-k8s.io/workload":"w"},
      "labels":{"kueue.x-k8s.io/podset":"main"},"ownerReferences":[{"kind":"Job"}]},
      "spec":{"nodeName":"n","nodeSelector":{"a":"b"},"tolerations":[{"key":"k","operator":"Exists"}],"volumes":[{"name":"v"}],
        "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}]}}},"schedulingGates":[{"name":"g"}],"resourceClaims":[{"name":"c"}],"overhead":{"cpu":"1m"},
        "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1","example.com/gpu":"1"},"limits":{"memory":"1Gi"}}}],
        "initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}],"resources":{"requests":{"cpu":"4"}}},
      "status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","message":"m","lastTransitionTime":"1"}],"containerStatuses":[{"name":"c"}],
        "initContainerStatuses":[{"name":"s"}],"ephemeralContainerStatuses":[{"name":"e"}],"resourceClaimStatuses":[{"name":"c"}]}})",
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"supercluster-info","namespace":"kube-system","uid":"u","resourceVersion":"7"},
      "data":{"id":"r1","other":"x"}})",
    R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s","uid":"u","resourceVersion":"7","generation":2,
      "labels":{"a":"b"},"annotations":{"a":"b"},"ownerReferences":[{"kind":"Node"}],"managedFields":[{"manager":"m"}]},
      "spec":{"driver":"d","pool":{"name":"p","generation":3,"resourceSliceCount":1},"perDeviceNodeSelection":true,
        "devices":[{"name":"g","attributes":{"i":{"int":1},"b":{"bool":true},"s":{"string":"x"},"v":{"version":"1.0.0"},"l":{"ints":[1]}},
            "capacity":{"memory":{"value":"1Gi","requestPolicy":{"default":"1Mi","validRange":{"min":"1","max":"2","step":"1"}}},
              "queues":{"value":"8","requestPolicy":{"default":"2","validValues":["2","4"]}}},
            "nodeName":"n","taints":[{"key":"k","value":"v","effect":"NoExecute","timeAdded":"1"}],"bindsToNode":true,
            "consumesCounters":[{"counterSet":"c","counters":{"m":{"value":"1"}}}],"allowMultipleAllocations":true,
            "bindingConditions":["x"],"bindingFailureConditions":["y"],"nodeAllocatableResourceMappings":{"cpu":{}}},
          {"name":"h","nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}],
            "matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}},{"name":"i","allNodes":true}],
        "sharedCounters":[{"name":"c","counters":{"m":{"value":"9"}}}]}})",
    R"({"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceSlice","metadata":{"name":"s","uid":"u","resourceVersion":"7","generation":2},
      "spec":{"driver":"d","pool":{"name":"p","generation":3,"resourceSliceCount":1},"nodeName":"n",
        "devices":[{"name":"g","basic":{"attributes":{"s":{"string":"x"}},"capacity":{"memory":{"value":"1Gi"}},
          "taints":[{"key":"k","effect":"NoSchedule","timeAdded":"1"}],"bindsToNode":true,"bindingFailureConditions":["y"],
          "nodeAllocatableResourceMappings":{"cpu":{}}}}]}})",
    R"({"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c","uid":"u","resourceVersion":"7","labels":{"a":"b"},
      "annotations":{"a":"b"},"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"selectors":[{"cel":{"expression":"true"}}],
      "config":[{"opaque":{"driver":"d","parameters":{"a":"b"}}}],"extendedResourceName":"example.com/gpu"}})",
    R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"n","uid":"u","resourceVersion":"7",
      "labels":{"a":"b"},"deletionTimestamp":"1","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"1"}],
      "annotations":{"resource.kubernetes.io/pod-claim-name":"g","resource.kubernetes.io/extended-resource-claim":"true"}},
      "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","selectors":[{"cel":{"expression":"true"}}],
            "allocationMode":"ExactCount","count":2,"adminAccess":true,"capacity":{"requests":{"memory":"1Gi"}},
            "tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":3}]}},
          {"name":"f","firstAvailable":[{"name":"a","deviceClassName":"c"},{"name":"b","deviceClassName":"c","allocationMode":"All"}]}],
        "constraints":[{"requests":["r"],"matchAttribute":"d/a"},{"distinctAttribute":"d/b"}],
        "config":[{"requests":["r"],"opaque":{"driver":"d","parameters":{"a":"b"}}}]}},
      "status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p","device":"g","adminAccess":true,"shareID":"1",
            "consumedCapacity":{"memory":"1Gi"},"tolerations":[{"key":"k"}],"bindingConditions":["x"],"bindingFailureConditions":["y"]}],
          "config":[{"source":"FromClass"}]},"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In",
            "values":["n"]}]}]},"allocationTimestamp":"1"},
        "reservedFor":[{"apiGroup":"g","resource":"pods","name":"p","uid":"1"}],"devices":[{"driver":"d","conditions":[{"type":"Ready"}]}]}})",
    R"({"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaimTemplate","metadata":{"name":"t","namespace":"n","uid":"u",
      "resourceVersion":"7","labels":{"a":"b"},"annotations":{"a":"b"}},"spec":{"metadata":{"labels":{"a":"b"}},"spec":{"devices":{
        "requests":[{"name":"r","deviceClassName":"c","count":2},{"name":"f","firstAvailable":[{"name":"a","deviceClassName":"c"}]}],
        "config":[{"opaque":{"driver":"d"}}]}}}})",
    R"({"apiVersion":"resource.k8s.io/v1beta2","kind":"DeviceTaintRule","metadata":{"name":"r","uid":"u","resourceVersion":"7",
      "labels":{"a":"b"},"annotations":{"a":"b"}},"spec":{"deviceSelector":{"driver":"d","pool":"p","device":"g"},
      "taint":{"key":"k","value":"v","effect":"NoSchedule","timeAdded":"1"}},"status":{"conditions":[{"type":"x"}]}})",
    R"({"apiVersion":"dra.fairlead.io/v1alpha1","kind":"FleetResourceClass","metadata":{"name":"c","uid":"u","resourceVersion":"7",
      "labels":{"a":"b"}},"driverName":"d","parametersRef":{"apiGroup":"g","kind":"K","name":"p","namespace":"n"},
      "suitableClusters":["b","a"]})",
    R"({"apiVersion":"dra.fairlead.io/v1alpha1","kind":"FleetResourceClaim","metadata":{"name":"c","namespace":"n","uid":"u",
      "resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":"2026-01-02T00:00:00Z",
      "ownerReferences":[{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","name":"w","uid":"1"}]},
      "spec":{"resourceClassName":"c","parametersRef":{"apiGroup":"g","kind":"K","name":"p"},"allocationMode":"Immediate"},
      "status":{"driverName":"fairlead.io/devices","allocation":{"resourceHandle":"[\"d/p/g\"]","availableOnClusters":["a"],
        "shareable":true},"deallocationRequested":true,
        "reservedFor":[{"apiGroup":"kueue.x-k8s.io","resource":"workloads","name":"w","uid":"1"}]}})",
    R"({"apiVersion":"dra.fairlead.io/v1alpha1","kind":"FleetResourceClaimTemplate","metadata":{"name":"t","namespace":"n","uid":"u",
      "resourceVersion":"7"},"spec":{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}},
      "spec":{"resourceClassName":"c","parametersRef":{"kind":"K","name":"p"},"allocationMode":"Immediate"}}})",
    R"({"apiVersion":"dra.fairlead.io/v1alpha1","kind":"FleetScheduling","metadata":{"name":"w","namespace":"n","uid":"u",
      "resourceVersion":"7","ownerReferences":[{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","name":"w","uid":"1"}]},
      "spec":{"potentialClusters":["b","a"],"selectedCluster":"b"},
      "status":{"resourceClaims":[{"name":"e","unsuitableClusters":["a"]}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Topology","metadata":{"name":"t","uid":"u","resourceVersion":"7","generation":1},
      "spec":{"levels":[{"nodeLabel":"example.com/block"},{"nodeLabel":"kubernetes.io/hostname"}]}})"};

Kind kind_of(const Json& object) {
  const auto [group, version] =
      split_api_version(object["apiVersion"].get_ref<const std::string&>());
  return *find_kind(group, object["kind"].get_ref<const std::string&>());
}

}  // namespace

TEST_CASE("a line of the same hash has the same facts, whatever changed in it") {
  std::set<Kind> kinds;
  for (const std::string& text : kObjects) {
    const Json object = Json::parse(text);
    const Kind kind = kind_of(object);
    kinds.insert(kind);
    const LineFingerprint::Hash before = rest(kind, line_of(object));
    const Facts facts = facts_of(object);
    std::vector<Json::json_pointer> paths;
    each_path(object, Json::json_pointer(), paths);
    std::size_t unseen = 0;
    for (const auto& path : paths) {
      if (path.empty()) continue;
      // Every value is taken away, and replaced by others that a projection could make sense of.
      for (const Json& other : {Json(), Json("other"), Json("9"), Json(true), Json(7)}) {
        Json changed = object;
        Json& parent = changed[path.parent_pointer()];
        if (!other.is_null())
          changed[path] = other;
        else if (parent.is_object())
          parent.erase(path.back());
        else
          parent.erase(std::stoul(path.back()));
        if (rest(kind, line_of(changed)) != before) continue;
        ++unseen;
        INFO(info(kind).name << " " << path.to_string() << " " << to_text(other));
        CHECK(facts_of(changed) == facts);
        CHECK(changed["metadata"].value("uid", "") == "u");
        CHECK(changed["metadata"]["generation"] == object["metadata"].value("generation", Json()));
      }
    }
    CHECK(unseen >= 4);  // resourceVersion at least
  }
  CHECK(kinds.size() == kKindCount);
}

TEST_CASE("a line that is read without its unread fields has the same facts") {
  for (const std::string& text : kObjects) {
    const Json object = Json::parse(text);
    const Kind kind = kind_of(object);
    for (const char* type : {"ADDED", "MODIFIED", "DELETED"}) {
      WatchDecoder decoder(LineFingerprinter(kind), [](const LineFingerprint&) { return false; });
      decoder.feed(to_text(Json{{"type", type}, {"object", object}}) + "\n");
      const WatchStep step = decoder.next();
      REQUIRE(step.kind == WatchStep::Kind::event);
      const auto seen = project(step.event->object());
      REQUIRE((seen.has_value() && seen->has_value()));
      INFO(info(kind).name << " " << type);
      CHECK((*seen)->facts == facts_of(object));
      CHECK((*seen)->uid == "u");
      CHECK((*seen)->resource_version == "7");
      CHECK((*seen)->generation == object["metadata"].value("generation", 0));
      const bool read = step.event->object()["metadata"]["managedFields"].given();
      const bool wanted = has_quota_writers(kind) || type == std::string("DELETED");
      CHECK(read == (wanted && object["metadata"].contains("managedFields")));
      CHECK((*seen)->writers.size() == (has_quota_writers(kind) ? 1 : 0));
    }
  }
}

TEST_CASE("what ends a list is read of every kind") {
  // The annotations of a node are left out of what is read of it.
  WatchDecoder decoder(LineFingerprinter(Kind::node), [](const LineFingerprint&) { return false; });
  decoder.feed(R"({"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"4",)"
               R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
               "\n");
  const WatchStep step = decoder.next();
  REQUIRE(step.kind == WatchStep::Kind::event);
  CHECK(step.event->object()["metadata"]["annotations"]["k8s.io/initial-events-end"].string() ==
        "true");
}

TEST_CASE("every field that is left out may change without another hash") {
  std::map<Kind, std::set<std::string>> never_seen;
  for (const std::string& text : kObjects) {
    const Json object = Json::parse(text);
    const Kind kind = kind_of(object);
    if (!never_seen.contains(kind))
      for (const std::string& ignored : LineFingerprinter(kind).ignored())
        if (ignored.starts_with("spec.") || ignored.starts_with("status."))
          never_seen[kind].insert(ignored);
    for (const std::string& ignored : LineFingerprinter(kind).ignored()) {
      std::string pointer = "/";
      for (std::size_t i = 0; i < ignored.size(); ++i)
        if (ignored[i] == '\\')
          pointer += ignored[++i];
        else if (ignored[i] == '/')
          pointer += "~1";
        else
          pointer += ignored[i] == '.' ? '/' : ignored[i] == '*' ? '0' : ignored[i];
      const Json::json_pointer path(pointer);
      if (!object.contains(path)) continue;
      never_seen[kind].erase(ignored);
      Json changed = object;
      changed[path] = Json{{"what", {1, 2, {{"ever", "]}"}}}}};
      INFO(info(kind).name << " " << ignored);
      CHECK(rest(kind, line_of(changed)) == rest(kind, line_of(object)));
    }
  }
  for (const Kind kind : {Kind::workload, Kind::pod})
    for (const std::string& ignored : never_seen[kind])
      FAIL_CHECK(info(kind).name << " of this test lacks " << ignored);
}

TEST_CASE("a fingerprint names the object of the line") {
  LineFingerprinter fingerprinter(Kind::local_queue);
  JsonIndex index;
  const std::string line =
      R"( {"type" : "MODIFIED" , "object":{"metadata":{"namespace":"team","name" : "main" ,"uid":"u-1","resourceVersion":"42"}}} )";
  auto seen = fingerprint(fingerprinter, index, line);
  REQUIRE(seen.has_value());
  CHECK(seen->type == "MODIFIED");
  CHECK(seen->namespace_ == "team");
  CHECK(seen->name == "main");
  CHECK(seen->uid == "u-1");
  CHECK(seen->resource_version == "42");
  const std::string escaped =
      R"({"type":"MODIFIED","object":{"metadata":{"name":"m\u0061in","uid":"u"}}})";
  CHECK(fingerprint(fingerprinter, index, escaped)->name.empty());
  for (const std::string broken :
       {"7", "[]", R"("a")", R"({"type":"MODIFIED")", R"({"type":"MODIFIED"}})", R"({"a" 1})",
        R"({"object":{"metadata":{"name":"x"})", R"({"object":{"status":{"nodes":[1,2})",
        R"({"a":1,})", "{}{}", "{,}"}) {
    INFO(broken);
    CHECK_FALSE(fingerprint(fingerprinter, index, broken).has_value());
  }
}
