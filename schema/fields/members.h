// The fields of the kinds that carry quota to a member, and of those between a Placement and a
// running Workload.
#pragma once

#include "schema/fields/devices.h"

namespace fairlead {

template <class V, Of<WorkQuota> T>
void fields(V& visit, T& quota) {
  visit.field("clusterQueue", quota.cluster_queue);
  visit.field("flavor", quota.flavor);
  visit.field("resource", quota.resource);
  visit.field("nominal", quota.nominal);
}

template <class V, Of<WorkLocalQueue> T>
void fields(V& visit, T& queue) {
  visit.field("namespace", queue.namespace_);
  visit.field("name", queue.name);
  visit.field("clusterQueue", queue.cluster_queue);
}

template <class V, Of<WorkFlavor> T>
void fields(V& visit, T& flavor) {
  visit.field("name", flavor.name);
  visit.field("orphaned", flavor.orphaned);
}

template <class V, Of<WorkFeedback> T>
void fields(V& visit, T& feedback) {
  visit.field("clusterQueue", feedback.cluster_queue);
  visit.field("active", feedback.active);
  visit.unprinted("hasUsage", feedback.has_usage);
  visit.field("usage", feedback.usage, printed_if(feedback.has_usage));
  visit.field("reason", feedback.reason, kSparse);
  visit.field("synced", feedback.synced, kSparse);
}

template <class V, Of<ManifestWorkFacts> T>
void fields(V& visit, T& work) {
  visit.field("specDigest", work.spec_digest);
  visit.field("quotas", work.quotas);
  visit.field("localQueues", work.local_queues);
  visit.field("applied", work.applied);
  visit.field("available", work.available);
  visit.field("feedback", work.feedback);
  visit.field("deleting", work.deleting);
  visit.field("flavors", work.flavors, kSparse);
  visit.field("finalizers", work.finalizers, kSparse);
  visit.field("feedbackDigest", work.feedback_digest, kSparse);
  visit.field("topologies", work.topologies, kSparse);
}

template <class V, Of<BindingPolicyFacts> T>
void fields(V& visit, T& policy) {
  visit.field("specDigest", policy.spec_digest);
  visit.field("namespaces", policy.namespaces);
  visit.field("ours", policy.ours);
  visit.field("observedGeneration", policy.observed_generation);
  visit.field("synced", policy.synced);
  visit.field("error", policy.error);
  visit.field("deleting", policy.deleting);
  visit.field("flavors", policy.flavors, kSparse);
  visit.field("topologies", policy.topologies, kSparse);
}

template <class V, Of<AdmissionCheckFacts> T>
void fields(V& visit, T& check) {
  visit.field("controllerName", check.controller_name);
  visit.group("parameters", [&](V& inner) {
    inner.field("parametersApiGroup", check.parameters_api_group, printed_as("apiGroup"));
    inner.field("parametersKind", check.parameters_kind, printed_as("kind"));
    inner.field("parametersName", check.parameters_name, printed_as("name"));
  });
  visit.field("settings", check.settings);
  visit.field("finalizers", check.finalizers);
  visit.field("active", check.active);
  visit.field("allClustersUsed", check.all_clusters_used);
  visit.field("deleting", check.deleting);
  visit.field("dispatcherReady", check.dispatcher_ready, kSparse.but_late());
}

template <class V, Of<MultiKueueConfigFacts> T>
void fields(V& visit, T& config) {
  visit.field("clusters", config.clusters);
  visit.field("quotaManagement", config.quota_management);
  visit.field("mark", config.mark, kSpread);
  visit.field("deleting", config.deleting);
}

template <class V, Of<MultiKueueClusterFacts> T>
void fields(V& visit, T& cluster) {
  visit.field("secret", cluster.secret);
  visit.field("path", cluster.path);
  visit.field("clusterProfile", cluster.cluster_profile);
  visit.field("mark", cluster.mark, kSpread);
  visit.field("active", cluster.active);
  visit.field("deleting", cluster.deleting);
}

template <class V, Of<ScorePrioritizer> T>
void fields(V& visit, T& prioritizer) {
  visit.field("resourceName", prioritizer.resource_name);
  visit.field("scoreName", prioritizer.score_name);
  visit.field("weight", prioritizer.weight);
}

template <class V, Of<PlacementFacts> T>
void fields(V& visit, T& placement) {
  visit.field("prioritizers", placement.prioritizers);
  visit.field("deleting", placement.deleting);
}

template <class V, Of<PlacementDecisionFacts> T>
void fields(V& visit, T& decision) {
  visit.field("placement", decision.placement);
  visit.field("clusters", decision.clusters);
}

template <class V, Of<AddOnPlacementScoreFacts> T>
void fields(V& visit, T& score) {
  visit.field("scores", score.scores);
  visit.field("validUntil", score.valid_until);
}

template <class V, Of<WorkloadCheck> T>
void fields(V& visit, T& check) {
  visit.field("name", check.name);
  visit.field("state", check.state);
}

template <class V, Of<WorkloadPodSet> T>
void fields(V& visit, T& pod_set) {
  visit.field("name", pod_set.name);
  visit.field("count", pod_set.count);
  visit.field("admitted", pod_set.admitted);
  visit.field("pod", pod_set.pod, kSpread);
  visit.field("fleetClaims", pod_set.fleet.entries, kSparse);
  visit.field("fleetFault", pod_set.fleet.fault, kSparse);
}

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
}

template <class V, Of<SecretFacts> T>
void fields(V& visit, T& secret) {
  visit.field("keys", secret.keys);
  visit.field("content", secret.content);
}

template <class V, Of<CustomResourceDefinitionFacts> T>
void fields(V& visit, T& crd) {
  visit.field("clustersMax", crd.clusters_max);
  visit.field("clusterProfileRef", crd.cluster_profile_ref);
}

template <class V, Of<MutatingAdmissionPolicyFacts> T>
void fields(V& visit, T& policy) {
  visit.field("clearsNominations", policy.clears_nominations);
  visit.field("deleting", policy.deleting);
}

}  // namespace fairlead
