#include "tests/scenarios/language/vocabulary.h"

namespace fairlead::language {
namespace {

constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";
constexpr std::string_view kPlacements = "cluster.open-cluster-management.io/v1beta1";
constexpr std::string_view kGalaxy = "galaxy.kubestellar.io/v1alpha1";

constexpr std::string_view kDevices = "resource.k8s.io/v1";
constexpr std::string_view kFleetClaims = "dra.fairlead.io/v1alpha1";

constexpr KindRow kKinds[] = {
    {"node", "v1", "Node", false, "{}"},
    {"secret", "v1", "Secret", true, "{}"},
    {"claim", kGalaxy, "ClusterResourceClaim", false, "{}"},
    {"metrics", kGalaxy, "ClusterMetrics", false, "{}"},
    {"cluster", "cluster.open-cluster-management.io/v1", "ManagedCluster", false, "{}"},
    {"profile", "multicluster.x-k8s.io/v1alpha1", "ClusterProfile", true, R"({"spec":{}})"},
    {"queue", kKueue, "ClusterQueue", false, "{}"},
    {"local-queue", kKueue, "LocalQueue", true, "{}"},
    {"cohort", kKueue, "Cohort", false, "{}"},
    {"topology", kKueue, "Topology", false, "{}"},
    {"flavor", kKueue, "ResourceFlavor", false, "{}"},
    {"check", kKueue, "AdmissionCheck", false,
     R"({"spec":{"controllerName":"open-cluster-management.io/placement"}})"},
    {"workload", kKueue, "Workload", true, "{}"},
    {"worker", kKueue, "MultiKueueCluster", false, "{}"},
    {"worker-list", kKueue, "MultiKueueConfig", false, "{}"},
    {"placement", kPlacements, "Placement", true, R"({"spec":{}})"},
    {"decision", kPlacements, "PlacementDecision", true, "{}"},
    {"score", "cluster.open-cluster-management.io/v1alpha1", "AddOnPlacementScore", true, "{}"},
    {"work", "work.open-cluster-management.io/v1", "ManifestWork", true, "{}"},
    {"binding", "control.kubestellar.io/v1alpha1", "BindingPolicy", false, "{}"},
    {"clearing-policy", "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", false, "{}"},
    {"vc", "tenancy.x-k8s.io/v1alpha1", "VirtualCluster", true, "{}", "default/{}"},
    {"namespace", "v1", "Namespace", false, "{}"},
    {"tenant-quota", "v1", "ResourceQuota", true, "{}"},
    {"pod", "v1", "Pod", true, "{}"},
    {"info", "v1", "ConfigMap", true, "{}", "{}/kube-system/supercluster-info"},
    {"slice", kDevices, "ResourceSlice", false,
     R"({"spec":{"pool":{"generation":1,"resourceSliceCount":1}}})"},
    {"device-class", kDevices, "DeviceClass", false, R"({"spec":{}})"},
    {"taint-rule", "resource.k8s.io/v1beta2", "DeviceTaintRule", false, R"({"spec":{}})"},
    {"device-claim", kDevices, "ResourceClaim", true, R"({"spec":{}})"},
    {"claim-template", kDevices, "ResourceClaimTemplate", true, R"({"spec":{"spec":{}}})"},
    {"fleet-class", kFleetClaims, "FleetResourceClass", false, "{}"},
    {"fleet-claim", kFleetClaims, "FleetResourceClaim", true, "{}"},
    {"fleet-template", kFleetClaims, "FleetResourceClaimTemplate", true, "{}"},
    {"scheduling", kFleetClaims, "FleetScheduling", true, "{}"},
};

constexpr EntryRow kEntries[] = {
    {"claim", "", "/spec/resourceAssignments/[clusterQueueName={1},flavor={2}]"},
    {"queue", "", "/spec/resourceGroups/{group}/flavors/[name={1}]"},
    {"queue", "uses", "/status/flavorsUsage/[name={1}]"},
    {"queue", "effective", "/status/effectiveQuotas/resourceGroups/{group}/flavors/[name={1}]"},
    {"cohort", "effective", "/status/effectiveQuotas/resourceGroups/{group}/flavors/[name={1}]"},
    {"metrics", "", "/status/nodes/[name={1}]"},
    {"queue", "condition", "/status/conditions/[type={1}]"},
    {"local-queue", "condition", "/status/conditions/[type={1}]"},
    {"check", "condition", "/status/conditions/[type={1}]"},
    {"work", "condition", "/status/conditions/[type={1}]"},
    {"work", "reported",
     "/status/resourceStatus/manifests/"
     "[resourceMeta.resource=clusterqueues,resourceMeta.name={1}]"},
    {"worker", "condition", "/status/conditions/[type={1}]"},
    {"work", "flavor",
     "/spec/workload/manifests/"
     "[apiVersion=kueue.x-k8s.io~1v1beta2,kind=ResourceFlavor,metadata.name={1}]"},
    {"work", "queue",
     "/spec/workload/manifests/"
     "[apiVersion=kueue.x-k8s.io~1v1beta2,kind=ClusterQueue,metadata.name={1}]"
     "/spec/resourceGroups/{group}/flavors/[name={2}]"},
    {"slice", "", "/spec/devices/[name={1}]"},
    {"slice", "counters", "/spec/sharedCounters/[name={1}]"},
    {"scheduling", "", "/status/resourceClaims/[name={1}]"},
    {"device-claim", "took", "/status/allocation/devices/results/[device={1}]"},
};

constexpr std::string_view kReady = "/status/conditions/[type=Ready]/status";
constexpr std::string_view kAvailable =
    "/status/conditions/[type=ManagedClusterConditionAvailable]/status";
constexpr std::string_view kQuota = "resources/[name={key}]/nominalQuota";
// Times that no rule reads.
constexpr std::string_view kSomeTime = "\"2026-01-01T00:00:00Z\"";

constexpr std::string_view kPoolReason = "/metadata/annotations/fairlead.io~1pool-reason";
// Of a super cluster's namespace: for which namespace of which tenant it was made.
constexpr std::string_view kMadeForTenant = "/metadata/annotations/tenancy.x-k8s.io~1cluster";
constexpr std::string_view kMadeFor = "/metadata/annotations/tenancy.x-k8s.io~1namespace";
constexpr std::string_view kMadeForUid = "/metadata/annotations/tenancy.x-k8s.io~1uid";

// Of the first and of the second pod set.
constexpr std::string_view kFleetClaimsOf =
    "/spec/podSets/0/template/metadata/annotations/dra.fairlead.io~1claims";
constexpr std::string_view kMoreFleetClaimsOf =
    "/spec/podSets/1/template/metadata/annotations/dra.fairlead.io~1claims";

constexpr std::string_view kOrphans = "/spec/deleteOption/selectivelyOrphans/orphaningRules";
constexpr std::string_view kForced =
    R"({"serverSideApply":{"force":true},"type":"ServerSideApply"})";
constexpr std::string_view kFeedback = R"([{"type":"JSONPaths","jsonPaths":[
    {"name":"active","path":".status.conditions[?(@.type==\"Active\")].status"},
    {"name":"activeReason","path":".status.conditions[?(@.type==\"Active\")].reason"}]}])";

constexpr FieldRow kFields[] = {
    {"*", "uid={value}", "/metadata/uid", "{value}"},
    {"*", "version={value}", "/metadata/resourceVersion", "{value}"},
    {"*", "generation={value}", "/metadata/generation", "{number}"},
    {"*", "label:{key}={value}", "/metadata/labels/{key}", "{value}"},
    {"*", "annotation:{key}={value}", "/metadata/annotations/{key}", "{value}"},
    {"*", "finalizers={each}", "/metadata/finalizers", "[]"},
    {"*", "finalizers={each}", "/metadata/finalizers/+", "{each}"},
    {"*", "created={value}", "/metadata/creationTimestamp", "{time}"},
    {"*", "deleted={value}", "/metadata/deletionTimestamp", "{time}"},
    {"*", "ours", "/metadata/labels/app.kubernetes.io~1managed-by", R"("fairlead")"},
    {"*", "owner={value}", "/metadata/annotations/fairlead.io~1owner", "{value}"},

    {"node", "ready", kReady, R"("True")"},
    {"node", "unready", kReady, R"("False")"},
    {"node", "cordoned", "/spec/unschedulable", "true"},
    {"node", "type={value}", "/metadata/labels/type", "{value}"},
    {"node", "{key}={value}", "/status/allocatable/{key}", "{value}"},

    {"secret", "kubeconfig", "/data/kubeconfig", R"("eA==")"},

    {"claim", "cluster={value}", "/spec/clusterName", "{value}"},
    {"claim", "{key}={value}", "/spec/nominalResources/{key}", "{value}"},
    {"claim .", "priority={value}", "priority", "{number}"},
    {"claim .", "min:{key}={value}", "minResources/{key}", "{value}"},
    {"claim .", "{key}={value}", "resources/{key}", "{value}"},

    {"metrics .", "type={value}", "labels/type", "{value}"},
    {"metrics .", "{key}={value}", "allocatableResources/{key}", "{value}"},

    {"cluster", "available", kAvailable, R"("True")"},
    {"cluster", "available={value}", kAvailable, "{value}"},
    {"cluster", "{key}={value}", "/status/allocatable/{key}", "{value}"},

    {"profile", "access={each}", "/status/accessProviders", "[]"},
    {"profile", "access={each}", "/status/accessProviders/[name={each}]", "null"},

    {"queue", "cohort={value}", "/spec/cohortName", "{value}"},
    {"queue", "checks={each}", "/spec/admissionChecksStrategy/admissionChecks", "[]"},
    {"queue", "checks={each}", "/spec/admissionChecksStrategy/admissionChecks/[name={each}]",
     "null"},
    {"queue", "orchestrator={value}", "/status/effectiveQuotas/orchestratorRef/apiGroup",
     R"("kueue.x-k8s.io")"},
    {"queue", "orchestrator={value}", "/status/effectiveQuotas/orchestratorRef/kind",
     R"("DynamicQuotaOrchestrator")"},
    {"queue", "orchestrator={value}", "/status/effectiveQuotas/orchestratorRef/name", "{value}"},
    {"queue .", "lend:{key}={value}", "resources/[name={key}]/lendingLimit", "{value}"},
    {"queue .", "borrow:{key}={value}", "resources/[name={key}]/borrowingLimit", "{value}"},
    {"queue .", "{key}={value}", kQuota, "{value}"},
    {"queue uses.", "{key}={value}", "resources/[name={key}]/total", "{value}"},
    {"queue uses.", "{key}={value}", "resources/[name={key}]/borrowed", R"("0")"},
    {"queue effective.", "{key}={value}", kQuota, "{value}"},

    {"queue", "stop={value}", "/spec/stopPolicy", "{value}"},
    {"queue condition.", "{key}={value}", "{key}", "{value}"},

    {"local-queue", "queue={value}", "/spec/clusterQueue", "{value}"},
    {"local-queue", "stop={value}", "/spec/stopPolicy", "{value}"},
    {"local-queue condition.", "{key}={value}", "{key}", "{value}"},

    {"cohort", "parent={value}", "/spec/parentName", "{value}"},
    {"cohort", "orchestrator={value}", "/status/effectiveQuotas/orchestratorRef/apiGroup",
     R"("kueue.x-k8s.io")"},
    {"cohort", "orchestrator={value}", "/status/effectiveQuotas/orchestratorRef/kind",
     R"("DynamicQuotaOrchestrator")"},
    {"cohort", "orchestrator={value}", "/status/effectiveQuotas/orchestratorRef/name", "{value}"},
    {"cohort effective.", "{key}={value}", kQuota, "{value}"},

    {"flavor", "{key}={value}", "/spec/nodeLabels/{key}", "{value}"},

    {"check", "placement={value}", "/spec/parameters/apiGroup",
     R"("cluster.open-cluster-management.io")"},
    {"check", "placement={value}", "/spec/parameters/kind", R"("Placement")"},
    {"check", "placement={value}", "/spec/parameters/name", "{value}"},
    {"check", "controller={value}", "/spec/controllerName", "{value}"},
    {"check condition.", "changed={value}", "lastTransitionTime", "{time}"},
    {"check condition.", "generation={value}", "observedGeneration", "{number}"},
    {"check condition.", "{key}={value}", "{key}", "{value}"},

    {"workload", "check:{key}={value}", "/status/admissionChecks/[name={key}]/state", "{value}"},
    {"workload", "check:{key}={value}", "/status/admissionChecks/[name={key}]/message", R"("")"},
    {"workload", "check:{key}={value}", "/status/admissionChecks/[name={key}]/lastTransitionTime",
     kSomeTime},
    {"fleet-class", "driver={value}", "/driverName", "{value}"},
    {"fleet-class", "suitable={each}", "/suitableClusters/+", "{each}"},
    {"fleet-claim", "class={value}", "/spec/resourceClassName", "{value}"},
    {"fleet-claim", "immediate", "/spec/allocationMode", R"("Immediate")"},
    {"fleet-claim", "allocated", "/status/allocation/resourceHandle", R"("h")"},
    {"fleet-claim", "available={each}", "/status/allocation/availableOnClusters/+", "{each}"},
    {"fleet-claim", "shareable", "/status/allocation/shareable", "true"},
    {"fleet-template", "class={value}", "/spec/spec/resourceClassName", "{value}"},
    {"fleet-template", "immediate", "/spec/spec/allocationMode", R"("Immediate")"},
    {"scheduling .", "unsuitable={each}", "unsuitableClusters", "[]"},
    {"scheduling .", "unsuitable={each}", "unsuitableClusters/+", "{each}"},
    {"workload", "claims={value}", kFleetClaimsOf, "{value}"},
    {"workload", "more-claims={value}", kMoreFleetClaimsOf, "{value}"},
    {"workload", "on={value}", "/status/clusterName", "{value}"},
    {"workload", "is:{key}={value}", "/status/conditions/[type={key}]/status", R"("True")"},
    {"workload", "is:{key}={value}", "/status/conditions/[type={key}]/reason", "{value}"},
    {"workload", "is:{key}={value}", "/status/conditions/[type={key}]/message", R"("")"},
    {"workload", "is:{key}={value}", "/status/conditions/[type={key}]/lastTransitionTime",
     kSomeTime},

    {"worker", "secret={value}", "/spec/clusterSource/kubeConfig/location", "{value}"},
    {"worker", "secret={value}", "/spec/clusterSource/kubeConfig/locationType", R"("Secret")"},

    {"worker", "profile={value}", "/spec/clusterSource/clusterProfileRef/name", "{value}"},
    {"worker condition.", "{key}={value}", "{key}", "{value}"},
    {"worker-list", "clusters={each}", "/spec/clusters", "[]"},
    {"worker-list", "clusters={each}", "/spec/clusters/+", "{each}"},

    {"decision", "of={value}", "/metadata/labels/cluster.open-cluster-management.io~1placement",
     "{value}"},
    {"decision", "clusters={each}", "/status/decisions", "[]"},
    {"decision", "clusters={each}", "/status/decisions/[clusterName={each}]/reason", R"("")"},

    {"score", "{key}={value}", "/status/scores/[name={key}]/value", "{number}"},

    {"work reported.", "active={value}", "statusFeedback/values/[name=active]/fieldValue/string",
     "{value}"},
    {"work reported.", "reason={value}",
     "statusFeedback/values/[name=activeReason]/fieldValue/string", "{value}"},
    {"work", "keeps={each}", "/spec/deleteOption/propagationPolicy", R"("SelectivelyOrphan")"},
    {"work", "keeps={each}", kOrphans, "[]"},
    {"work", "keeps={each}",
     "/spec/deleteOption/selectivelyOrphans/orphaningRules/"
     "[group=kueue.x-k8s.io,resource=resourceflavors,namespace=,name={each}]",
     "null"},
    {"work", "reports={each}",
     "/spec/manifestConfigs/[resourceIdentifier.group=kueue.x-k8s.io,"
     "resourceIdentifier.resource=clusterqueues,resourceIdentifier.name={each}]/updateStrategy",
     kForced},
    {"work", "reports={each}",
     "/spec/manifestConfigs/[resourceIdentifier.group=kueue.x-k8s.io,"
     "resourceIdentifier.resource=clusterqueues,resourceIdentifier.name={each}]/feedbackRules",
     kFeedback},
    {"work", "forces={each}",
     "/spec/manifestConfigs/[resourceIdentifier.group=kueue.x-k8s.io,"
     "resourceIdentifier.resource=resourceflavors,resourceIdentifier.name={each}]/updateStrategy",
     kForced},
    {"work flavor.", "{key}={value}", "spec/nodeLabels/{key}", "{value}"},
    {"work queue.", "{key}={value}", kQuota, "{value}"},
    {"work condition.", "generation={value}", "observedGeneration", "{number}"},
    {"work condition.", "{key}={value}", "{key}", "{value}"},

    {"vc", "phase={value}", "/status/phase", "{value}"},
    {"vc", "namespace={value}", "/status/clusterNamespace", "{value}"},
    {"vc", "limit={value}", "/metadata/annotations/fairlead.io~1pool-limit", "{value}"},

    {"namespace", "slice={value}", "/metadata/annotations/scheduler.virtualcluster.io~1slice",
     "{value}"},
    {"namespace", "placements={value}",
     "/metadata/annotations/scheduler.virtualcluster.io~1placements", "{value}"},
    {"namespace", "policy={value}", "/metadata/annotations/fairlead.io~1pool-policy", "{value}"},
    {"namespace", "reason={value}", kPoolReason, "{value}"},
    {"namespace", "tenant={value}", kMadeForTenant, "{value}"},
    {"namespace", "of={value}", kMadeFor, "{value}"},
    {"namespace", "of-uid={value}", kMadeForUid, "{value}"},

    {"tenant-quota", "scoped", "/spec/scopes", R"(["BestEffort"])"},
    {"tenant-quota", "{key}={value}", "/spec/hard/{key}", "{value}"},

    {"pod", "on={value}", "/metadata/annotations/scheduler.virtualcluster.io~1superCluster",
     "{value}"},
    {"pod", "reason={value}", kPoolReason, "{value}"},
    {"pod", "bound", "/spec/nodeName", R"("node")"},
    {"pod", "gated", "/spec/schedulingGates/[name=wait]", "null"},
    {"pod", "claims", "/spec/resourceClaims/[name=device]", "null"},
    {"pod", "from:{key}={value}", "/spec/resourceClaims/[name={key}]/resourceClaimTemplateName",
     "{value}"},
    {"pod", "uses:{key}={value}", "/spec/resourceClaims/[name={key}]/resourceClaimName", "{value}"},
    {"pod", "made-for={value}", "/metadata/annotations/tenancy.x-k8s.io~1uid", "{value}"},
    {"pod", "over", "/status/phase", R"("Succeeded")"},
    {"pod", "{key}={value}", "/spec/containers/[name=main]/resources/requests/{key}", "{value}"},

    {"info", "id={value}", "/data/id", "{value}"},

    {"slice", "driver={value}", "/spec/driver", "{value}"},
    {"slice", "pool={value}", "/spec/pool/name", "{value}"},
    {"slice", "gen={value}", "/spec/pool/generation", "{number}"},
    {"slice", "of={value}", "/spec/pool/resourceSliceCount", "{number}"},
    {"slice", "on={value}", "/spec/nodeName", "{value}"},
    {"slice", "everywhere", "/spec/allNodes", "true"},
    {"slice", "per-device", "/spec/perDeviceNodeSelection", "true"},
    {"slice .", "on={value}", "nodeName", "{value}"},
    {"slice .", "everywhere", "allNodes", "true"},
    {"slice .", "shared", "allowMultipleAllocations", "true"},
    {"slice .", "taint:{key}={value}", "taints/[key={key}]/effect", "{value}"},
    {"slice .", "int:{key}={value}", "attributes/{key}/int", "{number}"},
    {"slice .", "has:{key}={value}", "capacity/{key}/value", "{value}"},
    {"slice .", "{key}={value}", "attributes/{key}/string", "{value}"},
    {"slice counters.", "{key}={value}", "counters/{key}/value", "{value}"},

    {"device-claim", "asks:{key}={value}",
     "/spec/devices/requests/[name={key}]/exactly/deviceClassName", "{value}"},
    {"device-claim", "entry={value}",
     "/metadata/annotations/resource.kubernetes.io~1pod-claim-name", "{value}"},
    {"device-claim", "of-pod={value}", "/metadata/ownerReferences/0/uid", "{value}"},
    {"device-claim", "of-pod={value}", "/metadata/ownerReferences/0/kind", R"("Pod")"},
    {"device-claim", "of-pod={value}", "/metadata/ownerReferences/0/apiVersion", R"("v1")"},
    {"claim-template", "asks:{key}={value}",
     "/spec/spec/devices/requests/[name={key}]/exactly/deviceClassName", "{value}"},
    {"device-class", "cel={value}", "/spec/selectors/0/cel/expression", "{value}"},
    {"device-class", "gives={value}", "/spec/extendedResourceName", "{value}"},

    {"taint-rule", "driver={value}", "/spec/deviceSelector/driver", "{value}"},
    {"taint-rule", "pool={value}", "/spec/deviceSelector/pool", "{value}"},
    {"taint-rule", "device={value}", "/spec/deviceSelector/device", "{value}"},
    {"taint-rule", "key={value}", "/spec/taint/key", "{value}"},
    {"taint-rule", "effect={value}", "/spec/taint/effect", "{value}"},

    {"device-claim took.", "admin", "adminAccess", "true"},
    {"device-claim took.", "{key}={value}", "{key}", "{value}"},
};

}  // namespace

std::span<const KindRow> kinds() { return kKinds; }
std::span<const EntryRow> entries() { return kEntries; }
std::span<const FieldRow> fields() { return kFields; }

}  // namespace fairlead::language
