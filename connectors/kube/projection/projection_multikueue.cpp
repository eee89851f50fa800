// The kinds between a Placement and a running Workload, in every version that is served of them.
#include <algorithm>
#include <array>
#include <map>

#include "connectors/kube/projection/projection_fields.h"
#include "schema/fleet_driver.h"
#include "schema/kind.h"

namespace fairlead::projection {
namespace {

// The names of a status list of a ClusterProfile.
// Of the list and of that by its former name: each of the two counts.
std::vector<std::string> provider_names(JsonView status) {
  std::vector<std::string> out;
  for (const char* list : {"accessProviders", "credentialProviders"}) {
    if (!status[list].is(JsonKind::array)) continue;
    for (JsonView item : status[list])
      if (const auto name = item["name"].string(); !name.empty()) out.emplace_back(name);
  }
  make_set(out);
  return out;
}

OwnerMark owner_mark(JsonView metadata) {
  return {metadata["labels"]["app.kubernetes.io/managed-by"].string() == "fairlead",
          std::string(metadata["annotations"]["fairlead.io/owner"].string())};
}

bool is_true(JsonView status, std::string_view type) {
  return condition(status, type).status == ConditionStatus::yes;
}

// Of the versions that are served, the first of `versions` (separated by commas).
JsonView best_served(JsonView spec, std::string_view versions) {
  while (!versions.empty()) {
    const std::size_t comma = std::min(versions.find(','), versions.size());
    for (JsonView item : spec["versions"])
      if (item["name"].string() == versions.substr(0, comma) && item["served"].is_true())
        return item;
    versions.remove_prefix(std::min(versions.size(), comma + 1));
  }
  return {};
}

// `name`, or what a kustomization with a namePrefix makes of it: "kueue-" before it, for example.
bool is_name_with_prefix(std::string_view whole, std::string_view name) {
  if (!whole.ends_with(name)) return false;
  whole.remove_suffix(name.size());
  return whole.empty() || whole.ends_with('-');
}

std::optional<std::int64_t> pod_count(JsonView value) {
  const auto count = value.integer();
  return count && *count >= 0 ? count : std::nullopt;
}

// Pod sets are a list map by name; API servers fill in `main` and a count of 1. Of an assignment
// without a count nothing is known.
std::vector<WorkloadPodSet> device_pod_sets(JsonView pod_sets, JsonView assignments) {
  const auto name_of = [](JsonView item) {
    const std::string_view name = item["name"].string();
    return name.empty() ? std::string_view("main") : name;
  };
  std::map<std::string_view, JsonView> assigned;
  for (JsonView item : assignments) assigned.insert_or_assign(name_of(item), item);
  std::vector<WorkloadPodSet> out;
  for (JsonView item : pod_sets) {
    WorkloadPodSet pod_set;
    const auto [metadata, spec] = item["template"].members("metadata", "spec");
    pod_set.pod = pod_devices(spec);
    pod_set.fleet = fleet_claim_entries(metadata["annotations"][kFleetClaimsAnnotation].string());
    if (!may_use_devices(pod_set.pod) && pod_set.fleet == FleetClaimEntries{}) continue;
    pod_set.name = name_of(item);
    pod_set.count = pod_count(item["count"]).value_or(1);
    if (const auto found = assigned.find(pod_set.name); found != assigned.end())
      pod_set.admitted = pod_count(found->second["count"]);
    out.push_back(std::move(pod_set));
  }
  return out;
}

}  // namespace

template <>
ClusterProfileFacts facts_of(JsonView object, ApiReading&) {
  JsonView metadata = object["metadata"];
  ClusterProfileFacts out;
  out.cluster = metadata["labels"]["open-cluster-management.io/cluster-name"].string();
  out.labelled = !out.cluster.empty();
  if (!out.labelled) out.cluster = metadata["name"].string();
  out.access_providers = provider_names(object["status"]);
  return out;
}

template <>
AdmissionCheckFacts facts_of(JsonView object, ApiReading&) {
  constexpr std::string_view setting = "fairlead.io/multikueue.";
  JsonView metadata = object["metadata"];
  JsonView parameters = object["spec"]["parameters"];
  AdmissionCheckFacts out;
  out.controller_name = object["spec"]["controllerName"].string();
  out.parameters_api_group = parameters["apiGroup"].string();
  out.parameters_kind = parameters["kind"].string();
  out.parameters_name = parameters["name"].string();
  for (auto& [name, value] : strings(metadata["annotations"]))
    if (name.starts_with(setting)) out.settings[name.substr(setting.size())] = value;
  out.finalizers = string_items(metadata["finalizers"]);
  out.active = condition(object["status"], "Active");
  out.all_clusters_used = condition(object["status"], "AllClustersUsed");
  out.dispatcher_ready = condition(object["status"], "DispatcherReady");
  out.deleting = deleting(object);
  return out;
}

template <>
MultiKueueConfigFacts facts_of(JsonView object, ApiReading&) {
  MultiKueueConfigFacts out;
  out.clusters = string_items(object["spec"]["clusters"]);
  out.quota_management = object["spec"]["quotaManagement"].string();
  out.mark = owner_mark(object["metadata"]);
  out.deleting = deleting(object);
  return out;
}

template <>
MultiKueueClusterFacts facts_of(JsonView object, ApiReading&) {
  MultiKueueClusterFacts out;
  JsonView spec = object["spec"];
  // v1beta2 has the sources one below; v1beta1 asks for a kubeConfig beside a profile too.
  JsonView source = spec["clusterSource"].given() ? spec["clusterSource"] : spec;
  JsonView kubeconfig = source["kubeConfig"];
  out.cluster_profile = source["clusterProfileRef"]["name"].string();
  if (out.cluster_profile.empty()) {
    const bool path = kubeconfig["locationType"].string() == "Path";
    (path ? out.path : out.secret) = kubeconfig["location"].string();
  }
  out.mark = owner_mark(object["metadata"]);
  out.active = condition(object["status"], "Active");
  out.deleting = deleting(object);
  return out;
}

template <>
PlacementFacts facts_of(JsonView object, ApiReading&) {
  PlacementFacts out;
  for (JsonView item : object["spec"]["prioritizerPolicy"]["configurations"]) {
    JsonView coordinate = item["scoreCoordinate"];
    ScorePrioritizer prioritizer;
    prioritizer.resource_name = coordinate["addOn"]["resourceName"].string();
    prioritizer.score_name = coordinate["addOn"]["scoreName"].string();
    prioritizer.weight = item["weight"].integer().value_or(1);
    if (coordinate["type"].string() == "AddOn" && !prioritizer.resource_name.empty() &&
        !prioritizer.score_name.empty())
      out.prioritizers.push_back(std::move(prioritizer));
  }
  // Not a set: the same prioritizer twice counts twice.
  std::sort(out.prioritizers.begin(), out.prioritizers.end());
  out.deleting = deleting(object);
  return out;
}

template <>
PlacementDecisionFacts facts_of(JsonView object, ApiReading&) {
  PlacementDecisionFacts out;
  out.placement =
      object["metadata"]["labels"]["cluster.open-cluster-management.io/placement"].string();
  for (JsonView item : object["status"]["decisions"])
    if (const auto name = item["clusterName"].string(); !name.empty())
      out.clusters.emplace_back(name);
  make_set(out.clusters);
  return out;
}

template <>
AddOnPlacementScoreFacts facts_of(JsonView object, ApiReading&) {
  JsonView status = object["status"];
  AddOnPlacementScoreFacts out;
  for (JsonView item : status["scores"]) {
    const std::string_view name = item["name"].string();
    const auto value = item["value"].integer();
    if (!name.empty() && value) out.scores.insert_or_assign(std::string(name), *value);
  }
  out.valid_until = parse_rfc3339(status["validUntil"].string());
  return out;
}

template <>
WorkloadFacts facts_of(JsonView object, ApiReading&) {
  const auto [metadata, spec, status] = object.members("metadata", "spec", "status");
  WorkloadFacts out;
  std::map<std::string, std::string> checks;  // a list map by name
  for (JsonView item : status["admissionChecks"])
    if (const auto name = item["name"].string(); !name.empty())
      checks.insert_or_assign(std::string(name), std::string(item["state"].string()));
  for (auto& [name, state] : checks) out.checks.push_back({name, std::move(state)});
  out.cluster_name = status["clusterName"].string();
  out.nominated_clusters = string_items(status["nominatedClusterNames"]);
  out.quota_reserved = is_true(status, "QuotaReserved");
  out.finished = is_true(status, "Finished");
  out.evicted = is_true(status, "Evicted");
  out.deleting = deleting(object);
  out.priority = spec["priority"].integer().value_or(0);
  out.created = parse_rfc3339(metadata["creationTimestamp"].string()).value_or(LogTime{});
  out.pod_sets = device_pod_sets(spec["podSets"], status["admission"]["podSetAssignments"]);
  out.devices_reserved = condition(status, "fairlead.io/DevicesReserved");
  return out;
}

template <>
SecretFacts facts_of(JsonView object, ApiReading&) {
  SecretFacts out;
  JsonView data = object["data"];
  if (data.is(JsonKind::object))
    for (JsonView member : data) out.keys.emplace_back(member.key());
  make_set(out.keys);
  const std::string text = data.is(JsonKind::object) ? canonical_text(data) : "{}";
  const std::array<std::string_view, 3> parts{object["metadata"]["uid"].string(),
                                              std::string_view("\0", 1), text};
  out.content = sha256(parts);
  return out;
}

template <>
CustomResourceDefinitionFacts facts_of(JsonView object, ApiReading&) {
  CustomResourceDefinitionFacts out;
  const auto of = [&](Kind kind) {
    return best_served(
        object["spec"],
        info(kind).versions)["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
  };
  const std::string_view plural = object["spec"]["names"]["plural"].string();
  if (plural == info(Kind::multikueue_config).resource)
    out.clusters_max = of(Kind::multikueue_config)["clusters"]["maxItems"].integer();
  if (plural == info(Kind::multikueue_cluster).resource) {
    JsonView spec = of(Kind::multikueue_cluster);
    JsonView source = spec["clusterSource"];
    out.cluster_profile_ref =
        (source.given() ? source["properties"] : spec)["clusterProfileRef"].given();
  }
  return out;
}

template <>
MutatingAdmissionPolicyFacts facts_of(JsonView object, ApiReading&) {
  constexpr std::string_view kueues = "clear-nominated-cluster-names";
  const auto [name, labels] = object["metadata"].members("name", "labels");
  const bool label = labels["fairlead.io/clears-nominations"].string() == "true";
  return {.clears_nominations = label || is_name_with_prefix(name.string(), kueues),
          .deleting = deleting(object)};
}

// Workloads are many, and nearly all of their long specs is what the containers run with.
constexpr std::string_view kUnreadOfWorkloads =
    "metadata.{labels,annotations,ownerReferences} "
    "spec.{active,queueName,maximumExecutionTimeSeconds,preemptionGates} "
    "spec.{priorityClassName,priorityClassRef,priorityClassSource} "
    "spec.podSets.*.{minCount,topologyRequest,template.metadata.labels} "
    "spec.podSets.*.template.spec.affinity.{podAffinity,podAntiAffinity} "
    "spec.podSets.*.template.spec.containers.*.{args,command,env,envFrom,image,imagePullPolicy} "
    "spec.podSets.*.template.spec.containers.*.{lifecycle,livenessProbe,name,ports,readinessProbe} "
    "spec.podSets.*.template.spec.containers.*.{securityContext,startupProbe,volumeMounts} "
    "spec.podSets.*.template.spec.containers.*.{terminationMessagePath,terminationMessagePolicy} "
    "spec.podSets.*.template.spec.initContainers.*.{args,command,env,image,name,volumeMounts} "
    "spec.podSets.*.template.spec.{dnsPolicy,restartPolicy,schedulerName,schedulingGates} "
    "spec.podSets.*.template.spec.{securityContext,serviceAccountName,volumes} "
    "spec.podSets.*.template.spec.{terminationGracePeriodSeconds,topologySpreadConstraints} "
    "status.admission.clusterQueue "
    "status.admission.podSetAssignments.*.{delayedTopologyRequest,flavors,resourceUsage} "
    "status.admission.podSetAssignments.*.topologyAssignment "
    "status.{requeueState,reclaimablePods,accumulatedPastExecutionTimeSeconds,resourceRequests} "
    "status.{schedulingStats,preemptionGates,unhealthyNodes} "
    "status.admissionChecks.*.{lastTransitionTime,message,podSetUpdates,retryCount} "
    "status.admissionChecks.*.requeueAfterSeconds";

std::span<const KindProjection> multikueue_projections() {
  static constexpr std::array kAll{
      projection_of<ClusterProfileFacts>("spec status.{conditions,version,properties}"),
      projection_of<AdmissionCheckFacts>(),
      projection_of<MultiKueueConfigFacts>("status"),
      projection_of<MultiKueueClusterFacts>(),
      projection_of<PlacementFacts>("status"),
      projection_of<PlacementDecisionFacts>("status.decisions.*.reason"),
      projection_of<AddOnPlacementScoreFacts>("spec"),
      projection_of<WorkloadFacts>(kUnreadOfWorkloads),
      projection_of<SecretFacts>(),
      projection_of<CustomResourceDefinitionFacts>("spec.conversion status"),
      projection_of<MutatingAdmissionPolicyFacts>("spec")};
  return kAll;
}

}  // namespace fairlead::projection
