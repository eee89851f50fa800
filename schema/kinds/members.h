// Facts of a family of kinds (schema/facts.h): the kinds that carry quota to a member.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/digest.h"
#include "schema/kinds/values.h"

namespace fairlead {

/// One quota inside a ManifestWork of ours.
struct WorkQuota {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;
  Amount nominal = 0;

  friend auto operator<=>(const WorkQuota&, const WorkQuota&) = default;
};
template <class V, Of<WorkQuota> T>
void fields(V& visit, T& quota) {
  visit.field("clusterQueue", quota.cluster_queue);
  visit.field("flavor", quota.flavor);
  visit.field("resource", quota.resource);
  visit.field("nominal", quota.nominal);
}

/// One LocalQueue inside a ManifestWork of ours.
struct WorkLocalQueue {
  std::string namespace_;
  std::string name;
  std::string cluster_queue;

  friend auto operator<=>(const WorkLocalQueue&, const WorkLocalQueue&) = default;
};
template <class V, Of<WorkLocalQueue> T>
void fields(V& visit, T& queue) {
  visit.field("namespace", queue.namespace_);
  visit.field("name", queue.name);
  visit.field("clusterQueue", queue.cluster_queue);
}

/// One ResourceFlavor or Topology inside a ManifestWork of ours.
struct WorkFlavor {
  std::string name;
  bool orphaned = false;  ///< spec.deleteOption leaves it at the member when the work is deleted

  friend auto operator<=>(const WorkFlavor&, const WorkFlavor&) = default;
};
template <class V, Of<WorkFlavor> T>
void fields(V& visit, T& flavor) {
  visit.field("name", flavor.name);
  visit.field("orphaned", flavor.orphaned);
}

/// The feedback of a ManifestWork on one ClusterQueue (status.resourceStatus).
struct WorkFeedback {
  std::string cluster_queue;
  ConditionStatus active = ConditionStatus::absent;  ///< feedback value `active`
  bool has_usage = false;                            ///< feedback value `usage` is present
  std::vector<FlavorUsage> usage;                    ///< sorted
  std::string reason{};  ///< of the condition Active: feedback value `activeReason`
  /// Condition StatusFeedbackSynced of the manifest: `yes` where the agent reports what is asked.
  ConditionStatus synced = ConditionStatus::absent;

  friend bool operator==(const WorkFeedback&, const WorkFeedback&) = default;
};
template <class V, Of<WorkFeedback> T>
void fields(V& visit, T& feedback) {
  visit.field("clusterQueue", feedback.cluster_queue);
  visit.field("active", feedback.active);
  visit.unprinted("hasUsage", feedback.has_usage);
  visit.field("usage", feedback.usage, printed_if(feedback.has_usage));
  visit.field("reason", feedback.reason, kSparse);
  visit.field("synced", feedback.synced, kSparse);
}

/// work.open-cluster-management.io ManifestWork; only those named fairlead-* are projected.
struct ManifestWorkFacts {
  /// SHA-256 of the canonical JSON of spec.workload.manifests. The rest of the spec is left out,
  /// because CRD versions give it different defaults.
  Digest spec_digest;
  std::vector<WorkQuota> quotas;             ///< sorted
  std::vector<WorkLocalQueue> local_queues;  ///< sorted
  ConditionFacts applied;
  ConditionFacts available;
  std::vector<WorkFeedback> feedback;  ///< sorted by queue
  bool deleting = false;
  std::vector<WorkFlavor> flavors;      ///< sorted
  std::vector<std::string> finalizers;  ///< sorted; only while it is being deleted
  /// SHA-256 of the canonical JSON of each feedbackRules in spec.manifestConfigs, one after the
  /// other; zero in a record that lacks it: then nothing is known.
  Digest feedback_digest;
  std::vector<WorkFlavor> topologies;  ///< sorted

  friend bool operator==(const ManifestWorkFacts&, const ManifestWorkFacts&) = default;
};
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

/// control.kubestellar.io BindingPolicy; only those named fairlead-* are projected.
struct BindingPolicyFacts {
  Digest spec_digest;                   ///< SHA-256 of the canonical JSON of spec
  std::vector<std::string> namespaces;  ///< the namespaces that it selects by name, sorted
  bool ours = false;                    ///< label app.kubernetes.io/managed-by: fairlead
  std::int64_t observed_generation = 0;
  ConditionFacts synced;
  std::string error;  ///< the first of status.errors
  bool deleting = false;
  std::vector<std::string> flavors;     ///< the ResourceFlavors that it selects by name, sorted
  std::vector<std::string> topologies;  ///< the Topologies, likewise

  friend bool operator==(const BindingPolicyFacts&, const BindingPolicyFacts&) = default;
};
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

}  // namespace fairlead
