// Facts of a family of kinds (schema/facts.h): the kinds between a Placement and a running
// Workload.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/time.h"
#include "schema/kinds/fleet.h"
#include "schema/kinds/values.h"

namespace fairlead {

/// kueue.x-k8s.io AdmissionCheck.
struct AdmissionCheckFacts {
  std::string controller_name;
  std::string parameters_api_group;
  std::string parameters_kind;
  std::string parameters_name;
  /// Annotations fairlead.io/multikueue.<setting> as written, by setting.
  std::map<std::string, std::string> settings;
  std::vector<std::string> finalizers;  ///< all of them, in order: a release must keep the others
  ConditionFacts active;                ///< condition Active
  ConditionFacts all_clusters_used;     ///< condition AllClustersUsed
  bool deleting = false;
  ConditionFacts dispatcher_ready;  ///< condition DispatcherReady

  friend bool operator==(const AdmissionCheckFacts&, const AdmissionCheckFacts&) = default;
};
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

/// kueue.x-k8s.io MultiKueueConfig.
struct MultiKueueConfigFacts {
  std::vector<std::string> clusters;  ///< names of MultiKueueClusters, in list order
  std::string quota_management;       ///< "", "Manual" or "Automated"
  OwnerMark mark;
  bool deleting = false;

  friend bool operator==(const MultiKueueConfigFacts&, const MultiKueueConfigFacts&) = default;
};
template <class V, Of<MultiKueueConfigFacts> T>
void fields(V& visit, T& config) {
  visit.field("clusters", config.clusters);
  visit.field("quotaManagement", config.quota_management);
  visit.field("mark", config.mark, kSpread);
  visit.field("deleting", config.deleting);
}

/// kueue.x-k8s.io MultiKueueCluster. At most one of the sources is set.
struct MultiKueueClusterFacts {
  std::string secret;           ///< kubeConfig.location where locationType is Secret
  std::string path;             ///< kubeConfig.location where locationType is Path
  std::string cluster_profile;  ///< clusterProfileRef.name
  OwnerMark mark;
  ConditionFacts active;  ///< status and reason; never evidence that a worker is lost
  bool deleting = false;

  friend bool operator==(const MultiKueueClusterFacts&, const MultiKueueClusterFacts&) = default;
};
template <class V, Of<MultiKueueClusterFacts> T>
void fields(V& visit, T& cluster) {
  visit.field("secret", cluster.secret);
  visit.field("path", cluster.path);
  visit.field("clusterProfile", cluster.cluster_profile);
  visit.field("mark", cluster.mark, kSpread);
  visit.field("active", cluster.active);
  visit.field("deleting", cluster.deleting);
}

/// An AddOn prioritizer of a Placement; the built-in prioritizers are not used.
struct ScorePrioritizer {
  std::string resource_name;  ///< of the AddOnPlacementScore
  std::string score_name;
  std::int64_t weight = 1;

  friend auto operator<=>(const ScorePrioritizer&, const ScorePrioritizer&) = default;
};
template <class V, Of<ScorePrioritizer> T>
void fields(V& visit, T& prioritizer) {
  visit.field("resourceName", prioritizer.resource_name);
  visit.field("scoreName", prioritizer.score_name);
  visit.field("weight", prioritizer.weight);
}

/// cluster.open-cluster-management.io Placement.
struct PlacementFacts {
  std::vector<ScorePrioritizer> prioritizers;  ///< sorted
  bool deleting = false;

  friend bool operator==(const PlacementFacts&, const PlacementFacts&) = default;
};
template <class V, Of<PlacementFacts> T>
void fields(V& visit, T& placement) {
  visit.field("prioritizers", placement.prioritizers);
  visit.field("deleting", placement.deleting);
}

/// cluster.open-cluster-management.io PlacementDecision: one shard of what a Placement selected.
struct PlacementDecisionFacts {
  std::string placement;              ///< label cluster.open-cluster-management.io/placement
  std::vector<std::string> clusters;  ///< sorted, each once, without empty names

  friend bool operator==(const PlacementDecisionFacts&, const PlacementDecisionFacts&) = default;
};
template <class V, Of<PlacementDecisionFacts> T>
void fields(V& visit, T& decision) {
  visit.field("placement", decision.placement);
  visit.field("clusters", decision.clusters);
}

/// cluster.open-cluster-management.io AddOnPlacementScore; its namespace is the cluster.
struct AddOnPlacementScoreFacts {
  std::map<std::string, std::int64_t> scores;
  std::optional<LogTime> valid_until;

  friend bool operator==(const AddOnPlacementScoreFacts&,
                         const AddOnPlacementScoreFacts&) = default;
};
template <class V, Of<AddOnPlacementScoreFacts> T>
void fields(V& visit, T& score) {
  visit.field("scores", score.scores);
  visit.field("validUntil", score.valid_until);
}

/// core/v1 Secret: never its content.
struct SecretFacts {
  std::vector<std::string> keys;  ///< of data, sorted
  /// SHA-256 of the Secret's uid and its data: it shows that the content changed, and not to what.
  Digest content;

  friend bool operator==(const SecretFacts&, const SecretFacts&) = default;
};
template <class V, Of<SecretFacts> T>
void fields(V& visit, T& secret) {
  visit.field("keys", secret.keys);
  visit.field("content", secret.content);
}

/// apiextensions.k8s.io CustomResourceDefinition of a MultiKueue kind, in the best served version
/// that Fairlead understands. Others are not read.
struct CustomResourceDefinitionFacts {
  /// maxItems of spec.clusters of MultiKueueConfig; absent if there is no bound or for another
  /// kind.
  std::optional<std::int64_t> clusters_max;
  bool cluster_profile_ref = false;  ///< MultiKueueCluster can name a ClusterProfile

  friend bool operator==(const CustomResourceDefinitionFacts&,
                         const CustomResourceDefinitionFacts&) = default;
};
template <class V, Of<CustomResourceDefinitionFacts> T>
void fields(V& visit, T& crd) {
  visit.field("clustersMax", crd.clusters_max);
  visit.field("clusterProfileRef", crd.cluster_profile_ref);
}

/// admissionregistration.k8s.io MutatingAdmissionPolicy: whether it removes from a Workload the
/// nomination that Kueue cannot remove itself (docs/dispatcher/clear-nominations.yaml).
struct MutatingAdmissionPolicyFacts {
  /// Named clear-nominated-cluster-names (Kueue's own, a prefix with a dash before it allowed), or
  /// labelled fairlead.io/clears-nominations: "true".
  bool clears_nominations = false;
  bool deleting = false;

  friend bool operator==(const MutatingAdmissionPolicyFacts&,
                         const MutatingAdmissionPolicyFacts&) = default;
};
template <class V, Of<MutatingAdmissionPolicyFacts> T>
void fields(V& visit, T& policy) {
  visit.field("clearsNominations", policy.clears_nominations);
  visit.field("deleting", policy.deleting);
}

}  // namespace fairlead
