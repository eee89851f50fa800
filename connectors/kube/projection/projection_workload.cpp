// Kueue's Workloads, of the hub and of members.
#include <algorithm>
#include <array>
#include <map>

#include "connectors/kube/projection/projection_fields.h"
#include "schema/fleet_driver.h"

namespace fairlead::projection {
namespace {

// The types of the conditions that say whether and why a Workload waits, in the order of
// WorkloadProgress::conditions.
constexpr std::array<std::string_view, 6> kProgressConditions{
    "QuotaReserved", "Admitted", "Requeued", "BlockedOnPreemptionGates", "Evicted", "Finished"};

constexpr std::string_view kOriginLabel = "kueue.x-k8s.io/multikueue-origin";

bool is_true(JsonView status, std::string_view type) {
  return condition(status, type).status == ConditionStatus::yes;
}

std::optional<std::int64_t> pod_count(JsonView value) {
  const auto count = value.integer();
  return count && *count >= 0 ? count : std::nullopt;
}

// An API server fills in `main` where a pod set has no name.
std::string_view name_of(JsonView item) {
  const std::string_view name = item["name"].string();
  return name.empty() ? std::string_view("main") : name;
}

// Pod sets are a list map by name; API servers fill in a count of 1. Of an assignment without a
// count nothing is known.
std::vector<WorkloadPodSet> device_pod_sets(JsonView pod_sets, JsonView assignments) {
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

void add(std::map<std::string, Amount>& sum, std::string_view resource, Int128 amount) {
  Amount& of = sum[std::string(resource)];
  of = saturate(Int128{of} + amount);
}

// Kueue writes status.resourceRequests while it considers the Workload, and removes them with the
// reservation of quota.
ResourceAmounts requests_of(JsonView pod_sets, JsonView considered) {
  std::map<std::string, Amount> sum;
  for (JsonView item : considered)
    for (const auto& [resource, amount] : amounts(item["resources"])) add(sum, resource, amount);
  if (considered.size() == 0)
    for (JsonView item : pod_sets) {
      const std::int64_t count = pod_count(item["count"]).value_or(1);
      for (const auto& [resource, amount] : pod_requests(item["template"]["spec"]))
        add(sum, resource, Int128{amount} * count);
    }
  return sum;
}

std::vector<AssignedPodSet> assigned_pod_sets(JsonView assignments, JsonView reclaimable,
                                              JsonView pod_sets) {
  std::map<std::string_view, std::int64_t> counts, reclaimed;
  for (JsonView item : pod_sets) counts[name_of(item)] = pod_count(item["count"]).value_or(1);
  for (JsonView item : reclaimable) reclaimed[name_of(item)] = pod_count(item["count"]).value_or(0);
  std::vector<AssignedPodSet> out;
  for (JsonView item : assignments) {
    AssignedPodSet& one = out.emplace_back();
    const std::string_view name = name_of(item);
    one.name = name;
    one.count = pod_count(item["count"]).value_or(counts[name]);
    one.reclaimable = std::min(reclaimed[name], one.count);
    const auto [flavors, usage] = item.members("flavors", "resourceUsage");
    const auto flavor_of = strings(flavors);
    for (const auto& [resource, amount] : amounts(usage))
      if (const auto flavor = flavor_of.find(std::string(resource)); flavor != flavor_of.end())
        one.usage.push_back({flavor->second, flavor->first, amount});
    make_set(one.usage);
  }
  return out;
}

std::vector<WorkloadCondition> progress_conditions(JsonView status) {
  std::vector<WorkloadCondition> out;
  for (const std::string_view type : kProgressConditions)
    for (JsonView item : status["conditions"])
      if (item["type"].string() == type) {
        out.push_back({std::string(type), condition_status(item["status"].string()),
                       std::string(item["reason"].string()),
                       std::string(item["message"].string())});
        break;
      }
  return out;
}

std::optional<LogTime> transition_of(JsonView status, std::string_view type) {
  for (JsonView item : status["conditions"])
    if (item["type"].string() == type) return parse_rfc3339(item["lastTransitionTime"].string());
  return std::nullopt;
}

WorkloadProgress progress_of(JsonView metadata, JsonView spec, JsonView status) {
  WorkloadProgress out;
  const auto [queue, active, pod_sets] = spec.members("queueName", "active", "podSets");
  const auto [admission, requeue] = status.members("admission", "requeueState");
  out.queue = queue.string();
  out.deactivated = active.given() && !active.is_true();
  out.requests = requests_of(pod_sets, status["resourceRequests"]);
  out.conditions = progress_conditions(status);
  out.quota_since = transition_of(status, "QuotaReserved");
  if (is_true(status, "Finished")) out.finished_at = transition_of(status, "Finished");
  out.cluster_queue = admission["clusterQueue"].string();
  out.assigned =
      assigned_pod_sets(admission["podSetAssignments"], status["reclaimablePods"], pod_sets);
  out.requeues = pod_count(requeue["count"]).value_or(0);
  out.requeue_at = parse_rfc3339(requeue["requeueAt"].string());
  for (JsonView owner : metadata["ownerReferences"])
    if (owner["controller"].is_true()) {
      out.owner_kind = owner["kind"].string();
      out.owner_name = owner["name"].string();
    }
  out.labels = strings(metadata["labels"]);
  if (const auto origin = out.labels.find(std::string(kOriginLabel)); origin != out.labels.end()) {
    out.origin = origin->second;
    out.labels.erase(origin);
  }
  return out;
}

}  // namespace

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
  out.progress = progress_of(metadata, spec, status);
  return out;
}

// Workloads are many, and nearly all of their long specs is what the containers run with.
constexpr std::string_view kUnreadOfWorkloads =
    "metadata.annotations spec.{maximumExecutionTimeSeconds,preemptionGates} "
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
    "status.admission.podSetAssignments.*.{delayedTopologyRequest,topologyAssignment} "
    "status.{accumulatedPastExecutionTimeSeconds,schedulingStats,preemptionGates,unhealthyNodes} "
    "status.admissionChecks.*.{lastTransitionTime,message,podSetUpdates,retryCount} "
    "status.admissionChecks.*.requeueAfterSeconds";

std::span<const KindProjection> workload_projections() {
  static constexpr std::array kAll{projection_of<WorkloadFacts>(kUnreadOfWorkloads)};
  return kAll;
}

}  // namespace fairlead::projection
