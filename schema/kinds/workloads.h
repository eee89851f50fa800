// Facts of a family of kinds (schema/facts.h): Kueue's Workloads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "schema/kinds/devices.h"
#include "schema/kinds/fleet.h"
#include "schema/kinds/values.h"

namespace fairlead {

/// One entry of a Workload's status.admissionChecks.
struct WorkloadCheck {
  std::string name;
  std::string state;  ///< Pending, Ready, Retry, Rejected

  friend auto operator<=>(const WorkloadCheck&, const WorkloadCheck&) = default;
};
template <class V, Of<WorkloadCheck> T>
void fields(V& visit, T& check) {
  visit.field("name", check.name);
  visit.field("state", check.state);
}

/// A pod set of a Workload whose pods may use devices or have fleet claims.
struct WorkloadPodSet {
  std::string name;
  std::int64_t count = 1;                ///< spec.podSets[].count
  std::optional<std::int64_t> admitted;  ///< status.admission.podSetAssignments[].count
  PodDeviceFacts pod;                    ///< of its template
  FleetClaimEntries fleet;               ///< of its template

  friend bool operator==(const WorkloadPodSet&, const WorkloadPodSet&) = default;
};
template <class V, Of<WorkloadPodSet> T>
void fields(V& visit, T& pod_set) {
  visit.field("name", pod_set.name);
  visit.field("count", pod_set.count);
  visit.field("admitted", pod_set.admitted);
  visit.field("pod", pod_set.pod, kSpread);
  visit.field("fleetClaims", pod_set.fleet.entries, kSparse);
  visit.field("fleetFault", pod_set.fleet.fault, kSparse);
}

/// A condition of a Workload as Kueue wrote it, without its times.
struct WorkloadCondition {
  std::string type;
  ConditionStatus status = ConditionStatus::absent;
  std::string reason;
  std::string message;

  friend bool operator==(const WorkloadCondition&, const WorkloadCondition&) = default;
};
template <class V, Of<WorkloadCondition> T>
void fields(V& visit, T& condition) {
  visit.field("type", condition.type);
  visit.field("status", condition.status);
  visit.field("reason", condition.reason);
  visit.field("message", condition.message, kSparse);
}

/// One entry of status.admission.podSetAssignments: what the queue counts for a pod set.
struct AssignedPodSet {
  std::string name;
  std::int64_t count = 0;          ///< pods for which quota was reserved
  std::int64_t reclaimable = 0;    ///< of these, pods that need it no more: status.reclaimablePods
  std::vector<FlavorUsage> usage;  ///< resourceUsage of all `count` pods, by the flavor of each

  friend bool operator==(const AssignedPodSet&, const AssignedPodSet&) = default;
};
template <class V, Of<AssignedPodSet> T>
void fields(V& visit, T& assigned) {
  visit.field("name", assigned.name);
  visit.field("count", assigned.count);
  visit.field("reclaimable", assigned.reclaimable, kSparse);
  visit.field("usage", assigned.usage, printed_as("resourceUsage"));
}

/// How far a Workload has come, and whose it is. No rule reads it: it is kept for questions about
/// the past (docs/waiting.md).
struct WorkloadProgress {
  std::string queue;         ///< spec.queueName: a LocalQueue of its namespace
  bool deactivated = false;  ///< spec.active is false
  /// What all its pods request: status.resourceRequests where Kueue wrote it, with LimitRanges and
  /// transformations; else requests of the templates x count.
  ResourceAmounts requests;
  /// Of the types in kProgressConditions (connectors/kube/projection/projection_workload.cpp), in
  /// that order.
  std::vector<WorkloadCondition> conditions;
  /// lastTransitionTime of QuotaReserved, and of Finished where that is True.
  std::optional<LogTime> quota_since;
  std::optional<LogTime> finished_at;
  std::string cluster_queue;             ///< status.admission.clusterQueue
  std::vector<AssignedPodSet> assigned;  ///< in the order of podSetAssignments
  std::int64_t requeues = 0;             ///< status.requeueState.count
  std::optional<LogTime> requeue_at;     ///< status.requeueState.requeueAt
  std::string owner_kind;                ///< of the controller in ownerReferences
  std::string owner_name;
  std::map<std::string, std::string> labels;
  /// Label kueue.x-k8s.io/multikueue-origin: a hub's Workload of this name was copied here.
  std::string origin;

  friend bool operator==(const WorkloadProgress&, const WorkloadProgress&) = default;
};
template <class V, Of<WorkloadProgress> T>
void fields(V& visit, T& progress) {
  visit.presence("given");
  visit.field("queue", progress.queue);
  visit.field("deactivated", progress.deactivated, kSparse);
  visit.field("requests", progress.requests);
  visit.field("conditions", progress.conditions);
  visit.field("quotaSince", progress.quota_since, kSparse);
  visit.field("finishedAt", progress.finished_at, kSparse);
  visit.field("clusterQueue", progress.cluster_queue, kSparse);
  visit.field("assigned", progress.assigned, kSparse);
  visit.field("requeues", progress.requeues, kSparse);
  visit.field("requeueAt", progress.requeue_at, kSparse);
  visit.field("ownerKind", progress.owner_kind, kSparse);
  visit.field("ownerName", progress.owner_name, kSparse);
  visit.field("labels", progress.labels, kSparse);
  visit.field("origin", progress.origin, kSparse);
}

/// kueue.x-k8s.io Workload: the cluster that runs it, the checks that it waits for, the devices
/// that its pods ask for, and how far it has come.
struct WorkloadFacts {
  std::vector<WorkloadCheck> checks;            ///< sorted by name
  std::string cluster_name;                     ///< status.clusterName: a MultiKueueCluster
  std::vector<std::string> nominated_clusters;  ///< status.nominatedClusterNames, in order
  bool quota_reserved = false;
  bool finished = false;
  bool evicted = false;
  bool deleting = false;
  std::int64_t priority = 0;             ///< spec.priority
  LogTime created;                       ///< metadata.creationTimestamp
  std::vector<WorkloadPodSet> pod_sets;  ///< those with claims or extended resources, as listed
  ConditionFacts devices_reserved;       ///< condition fairlead.io/DevicesReserved
  std::optional<WorkloadProgress> progress{};  ///< absent in records without it: not known

  friend bool operator==(const WorkloadFacts&, const WorkloadFacts&) = default;
};
template <class V, Of<WorkloadFacts> T>
void fields(V& visit, T& workload) {
  visit.field("checks", workload.checks, printed_as("admissionChecks"));
  visit.field("clusterName", workload.cluster_name);
  visit.field("nominatedClusters", workload.nominated_clusters,
              printed_as("nominatedClusterNames"));
  visit.field("quotaReserved", workload.quota_reserved);
  visit.field("finished", workload.finished);
  visit.field("evicted", workload.evicted);
  visit.field("deleting", workload.deleting);
  visit.field("priority", workload.priority, kSparse);
  visit.field("created", workload.created, kSparse);
  visit.field("podSets", workload.pod_sets, kSparse);
  visit.field("devicesReserved", workload.devices_reserved, kSparse.but_late());
  visit.field("progress", workload.progress, kSpread);
}

}  // namespace fairlead
