// The fields of the kinds that decide who gets quota: capacity, queues and claims.
#pragma once

#include "schema/fields/values.h"

namespace fairlead {

template <class V, Of<NodeFacts> T>
void fields(V& visit, T& node) {
  // Packed since version 2: there is more of nodes than of anything else, and this is half the
  // bytes and a copy to read.
  visit.field("packedLabels", node.labels, printed_as("labels"));
  visit.formerly("labels", node.labels);
  visit.field("taints", node.taints);
  visit.field("unschedulable", node.unschedulable);
  visit.field("ready", node.ready);
  visit.field("packedAllocatable", node.allocatable, printed_as("allocatable"));
  visit.formerly("allocatable", node.allocatable);
}

template <class V, Of<ClusterMetricsFacts> T>
void fields(V& visit, T& metrics) {
  visit.field("nodes", metrics.nodes);
}

template <class V, Of<ManagedClusterFacts> T>
void fields(V& visit, T& cluster) {
  visit.field("allocatable", cluster.allocatable);
  visit.field("available", cluster.available);
  visit.field("deleting", cluster.deleting);
  visit.field("labelled", cluster.labelled, kSparse);
}

template <class V, Of<ClusterProfileFacts> T>
void fields(V& visit, T& profile) {
  visit.field("cluster", profile.cluster);
  visit.field("labelled", profile.labelled);
  visit.field("accessProviders", profile.access_providers);
}

template <class V, Of<ResourceFlavorFacts> T>
void fields(V& visit, T& flavor) {
  visit.field("nodeLabels", flavor.node_labels);
  visit.field("nodeTaints", flavor.node_taints);
  visit.field("tolerations", flavor.tolerations);
  visit.field("topologyName", flavor.topology_name);
}

template <class V, Of<TopologyFacts> T>
void fields(V& visit, T& topology) {
  visit.field("levels", topology.levels);
}

template <class V, Of<WorkerQuotaTerms> T>
void fields(V& visit, T& terms) {
  visit.field("from", terms.from);
  visit.field("percent", terms.percent);
  visit.field("reserve", terms.reserve);
}

template <class V, Of<SharingTerms> T>
void fields(V& visit, T& terms) {
  visit.presence("given");
  visit.field("weight", terms.weight, kOrNull);
  visit.field("flavorFungibility", terms.flavor_fungibility);
  visit.field("admissionScope", terms.admission_scope);
  visit.field("concurrentAdmission", terms.concurrent_admission,
              printed_as("concurrentAdmissionPolicy"));
  visit.field("checkFlavors", terms.check_flavors);
}

template <class V, Of<ClusterQueueFacts> T>
void fields(V& visit, T& queue) {
  visit.field("groups", queue.groups, printed_as("resourceGroups"));
  visit.field("cohort", queue.cohort);
  visit.field("namespaceSelector", queue.namespace_selector);
  visit.field("queueingStrategy", queue.queueing_strategy);
  visit.field("preemption", queue.preemption);
  visit.field("stopPolicy", queue.stop_policy);
  visit.field("admissionChecks", queue.admission_checks);
  visit.field("baseQuota", queue.base_quota);
  visit.field("extendResourceGroups", queue.extend_resource_groups);
  visit.field("usage", queue.usage);
  visit.field("active", queue.active);
  visit.field("deleting", queue.deleting);
  visit.field("workerQuota", queue.worker_quota, kUsual.but_late());
  visit.field("effective", queue.effective, printed_as("effectiveQuotas"));
  visit.field("sharing", queue.sharing);
}

template <class V, Of<CohortTerms> T>
void fields(V& visit, T& terms) {
  visit.presence("given");
  visit.field("groups", terms.groups, printed_as("resourceGroups"));
  visit.field("weight", terms.weight, kOrNull);
}

template <class V, Of<CohortFacts> T>
void fields(V& visit, T& cohort) {
  visit.field("parent", cohort.parent);
  visit.field("effective", cohort.effective, printed_as("effectiveQuotas"));
  visit.field("terms", cohort.terms, kSpread);
}

template <class V, Of<LocalQueueFacts> T>
void fields(V& visit, T& queue) {
  visit.field("clusterQueue", queue.cluster_queue);
  visit.field("stopPolicy", queue.stop_policy, kSparse);
  visit.field("active", queue.active, kSparse.but_late());
}

template <class V, Of<ClaimAssignment> T>
void fields(V& visit, T& row) {
  visit.field("clusterQueue", row.cluster_queue);
  visit.field("flavor", row.flavor);
  visit.field("resources", row.resources);
  visit.field("minResources", row.min_resources);
  visit.field("priority", row.priority);
}

template <class V, Of<ClaimHeadroom> T>
void fields(V& visit, T& headroom) {
  visit.flagged("percentGiven", "percent", headroom.percent);
  visit.flagged("reservedGiven", "reserved", headroom.reserved);
}

template <class V, Of<ClaimSpec> T>
void fields(V& visit, T& spec) {
  visit.field("clusterName", spec.cluster_name);
  visit.field("nominalResources", spec.nominal_resources);
  visit.field("assignments", spec.assignments, printed_as("resourceAssignments"));
  visit.field("nominalPolicy", spec.nominal_policy);
  visit.field("shrinkPolicy", spec.shrink_policy);
  visit.field("flavorCapacity", spec.flavor_capacity);
  visit.field("headroom", spec.headroom);
  visit.field("malformed", spec.malformed, kSparse);
}

template <class V, Of<ClaimGrant> T>
void fields(V& visit, T& grant) {
  visit.field("clusterQueue", grant.cluster_queue);
  visit.field("flavor", grant.flavor);
  visit.field("resource", grant.resource);
  visit.field("granted", grant.granted);
}

template <class V, Of<ClaimFacts> T>
void fields(V& visit, T& claim) {
  visit.field("spec", claim.spec);
  visit.field("created", claim.created);
  visit.field("deleting", claim.deleting);
  visit.field("finalizers", claim.finalizers);
  visit.field("debounce", claim.debounce);
  visit.field("statusGrants", claim.status_grants, printed_as("grants"));
  visit.field("statusDigest", claim.status_digest, kSparse);
}

}  // namespace fairlead
