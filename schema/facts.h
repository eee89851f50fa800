// Projected facts: what Fairlead keeps of each kind of object.
//
// Each struct is an allow-list of the fields that the engine reads, in canonical form: maps and
// sets sorted bytewise, quantities by value. Objects with equal facts are equal to Fairlead, so an
// update that changes none is not logged. Lists whose order matters to Kueue keep it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/quantity.h"
#include "engine/base/time.h"
#include "schema/device_facts.h"
#include "schema/flavor_facts.h"
#include "schema/fleet_facts.h"
#include "schema/packed_map.h"
#include "schema/placement_facts.h"
#include "schema/pool_facts.h"
#include "schema/spelled_quantity.h"
#include "schema/taints.h"

namespace fairlead {

/// resource name -> amount (cpu in milli, everything else in units), sorted by name.
using ResourceAmounts = PackedMap<Amount>;

/// The status of a condition as the API spells it; `absent` where there is none.
enum class ConditionStatus : std::uint8_t { absent, yes, no, unknown };

/// A condition without its message and times.
struct ConditionFacts {
  ConditionStatus status = ConditionStatus::absent;
  std::string reason;
  std::int64_t observed_generation = 0;

  friend bool operator==(const ConditionFacts&, const ConditionFacts&) = default;
};

/// One machine, from a core/v1 Node or from ClusterMetrics.
struct NodeFacts {
  Labels labels;
  std::vector<Taint> taints;  ///< NoSchedule and NoExecute only, sorted
  bool unschedulable = false;
  bool ready = false;  ///< always true from ClusterMetrics, which does not report it
  ResourceAmounts allocatable;

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

/// galaxy.kubestellar.io ClusterMetrics. Without nodes the capacity is UNKNOWN, never zero.
struct ClusterMetricsFacts {
  std::map<std::string, NodeFacts> nodes;  ///< by node name

  friend bool operator==(const ClusterMetricsFacts&, const ClusterMetricsFacts&) = default;
};

/// cluster.open-cluster-management.io ManagedCluster.
struct ManagedClusterFacts {
  ResourceAmounts allocatable;
  ConditionFacts available;  ///< ManagedClusterConditionAvailable
  bool deleting = false;
  bool labelled = false;  ///< its label `name` is its own name, by which a BindingPolicy selects it

  friend bool operator==(const ManagedClusterFacts&, const ManagedClusterFacts&) = default;
};

/// multicluster.x-k8s.io ClusterProfile.
struct ClusterProfileFacts {
  std::string cluster;    ///< label open-cluster-management.io/cluster-name, else the object's name
  bool labelled = false;  ///< `cluster` comes from the label
  std::vector<std::string>
      access_providers;  ///< names in status.accessProviders, else credentialProviders; sorted

  friend bool operator==(const ClusterProfileFacts&, const ClusterProfileFacts&) = default;
};

/// One (flavor, resource) pair in the spec of a ClusterQueue.
struct ResourceQuota {
  std::string name;
  SpelledQuantity nominal;
  std::optional<SpelledQuantity> borrowing_limit;
  std::optional<SpelledQuantity> lending_limit;

  friend bool operator==(const ResourceQuota&, const ResourceQuota&) = default;
};
struct FlavorQuotas {
  std::string name;
  std::vector<ResourceQuota> resources;  ///< in the order of coveredResources

  friend bool operator==(const FlavorQuotas&, const FlavorQuotas&) = default;
};
struct ResourceGroup {
  std::vector<std::string> covered_resources;
  std::vector<FlavorQuotas> flavors;

  friend bool operator==(const ResourceGroup&, const ResourceGroup&) = default;
};

/// The controller that sets an effective quota (orchestratorRef), e.g. a DynamicQuotaOrchestrator
/// of Kueue.
struct OrchestratorRef {
  std::string api_group;
  std::string kind;
  std::string name;

  friend bool operator==(const OrchestratorRef&, const OrchestratorRef&) = default;
};
/// status.effectiveQuotas of a ClusterQueue or Cohort (Kueue 0.20, KEP-12382): Kueue's scheduler
/// uses these groups instead of the spec's. Empty groups mean that there is no quota.
struct EffectiveQuotas {
  OrchestratorRef orchestrator;
  std::vector<ResourceGroup> groups;

  friend bool operator==(const EffectiveQuotas&, const EffectiveQuotas&) = default;
};

/// The usage of one (flavor, resource) pair, from flavorsUsage.
struct FlavorUsage {
  std::string flavor;
  std::string resource;
  Amount total = 0;

  friend auto operator<=>(const FlavorUsage&, const FlavorUsage&) = default;
};

/// The annotations of a ClusterQueue whose quota follows its workers', as written; empty where
/// absent.
struct WorkerQuotaTerms {
  std::string from;     ///< fairlead.io/quota-from: "workers"
  std::string percent;  ///< fairlead.io/quota-percent: whole percents of the workers' sum
  std::string reserve;  ///< fairlead.io/quota-reserve: JSON, flavor -> resource -> quantity

  friend bool operator==(const WorkerQuotaTerms&, const WorkerQuotaTerms&) = default;
};

/// What else of a ClusterQueue's spec decides who gets quota. No rule reads it: it is kept for
/// questions about the past. Texts are canonical JSON, empty where absent.
struct SharingTerms {
  std::optional<Quantity> weight;  ///< fairSharing.weight; Kueue takes 1 where it is absent
  std::string flavor_fungibility;  ///< in the spelling of v1beta2
  std::string admission_scope;
  std::string concurrent_admission;  ///< concurrentAdmissionPolicy
  /// admissionChecksStrategy.admissionChecks, where a check is for some flavors only.
  std::string check_flavors;

  friend bool operator==(const SharingTerms&, const SharingTerms&) = default;
};

/// kueue.x-k8s.io ClusterQueue.
struct ClusterQueueFacts {
  std::vector<ResourceGroup> groups;
  std::string cohort;              ///< spec.cohortName (v1beta2) or spec.cohort (v1beta1)
  std::string namespace_selector;  ///< canonical JSON; empty where absent
  std::string queueing_strategy;
  std::string preemption;  ///< canonical JSON; empty where absent
  std::string stop_policy;
  std::vector<std::string> admission_checks;  ///< names from both spellings, sorted
  std::string base_quota;  ///< annotation fairlead.io/base-quota as written; empty where absent
  bool extend_resource_groups = false;  ///< annotation fairlead.io/extend-resource-groups: "true"
  WorkerQuotaTerms worker_quota;
  std::vector<FlavorUsage> usage;  ///< sorted
  ConditionFacts active;
  bool deleting = false;
  std::optional<EffectiveQuotas> effective{};  ///< absent: the spec's groups are in force
  std::optional<SharingTerms> sharing{};       ///< absent in records without it: not known

  friend bool operator==(const ClusterQueueFacts&, const ClusterQueueFacts&) = default;
};

/// kueue.x-k8s.io LocalQueue.
struct LocalQueueFacts {
  std::string cluster_queue;
  std::string stop_policy;
  ConditionFacts active;  ///< without its generation

  friend bool operator==(const LocalQueueFacts&, const LocalQueueFacts&) = default;
};

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

/// The label and annotation that mark an object as made by Fairlead; unset on other objects.
struct OwnerMark {
  bool managed = false;  ///< label app.kubernetes.io/managed-by: fairlead
  std::string owner;     ///< annotation fairlead.io/owner, e.g. "placement/gpu"

  /// Returns whether both are set; one alone does not count.
  bool ours() const { return managed && !owner.empty(); }

  friend bool operator==(const OwnerMark&, const OwnerMark&) = default;
};

/// kueue.x-k8s.io MultiKueueConfig.
struct MultiKueueConfigFacts {
  std::vector<std::string> clusters;  ///< names of MultiKueueClusters, in list order
  std::string quota_management;       ///< "", "Manual" or "Automated"
  OwnerMark mark;
  bool deleting = false;

  friend bool operator==(const MultiKueueConfigFacts&, const MultiKueueConfigFacts&) = default;
};

/// One quota inside a ManifestWork of ours.
struct WorkQuota {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;
  Amount nominal = 0;

  friend auto operator<=>(const WorkQuota&, const WorkQuota&) = default;
};
/// One LocalQueue inside a ManifestWork of ours.
struct WorkLocalQueue {
  std::string namespace_;
  std::string name;
  std::string cluster_queue;

  friend auto operator<=>(const WorkLocalQueue&, const WorkLocalQueue&) = default;
};
/// One ResourceFlavor or Topology inside a ManifestWork of ours.
struct WorkFlavor {
  std::string name;
  bool orphaned = false;  ///< spec.deleteOption leaves it at the member when the work is deleted

  friend auto operator<=>(const WorkFlavor&, const WorkFlavor&) = default;
};
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
  /// other; zero in a record that lacks it, of which nothing is known.
  Digest feedback_digest;
  std::vector<WorkFlavor> topologies;  ///< sorted

  friend bool operator==(const ManifestWorkFacts&, const ManifestWorkFacts&) = default;
};

/// One row of a claim's resourceAssignments. Quantities stay text here: a malformed one must reach
/// the fold, which then keeps the last valid spec and reports the fault in a condition. Well-formed
/// ones are canonical.
struct ClaimAssignment {
  std::string cluster_queue;
  std::string flavor;
  std::map<std::string, std::string> resources;
  std::map<std::string, std::string> min_resources;
  std::optional<std::int32_t> priority;

  friend bool operator==(const ClaimAssignment&, const ClaimAssignment&) = default;
};
/// A claim's own headroom: a map that is set replaces that of the configuration completely.
struct ClaimHeadroom {
  std::optional<std::map<std::string, std::string>> percent;
  std::optional<std::map<std::string, std::string>> reserved;

  friend bool operator==(const ClaimHeadroom&, const ClaimHeadroom&) = default;
};
struct ClaimSpec {
  std::string cluster_name;
  std::map<std::string, std::string> nominal_resources;
  std::vector<ClaimAssignment> assignments;  ///< in the order given
  std::string nominal_policy;   ///< "", "Fixed", "TrackCapacity", or what was written instead
  std::string shrink_policy;    ///< "", "Proportional", "Priority", or what was written instead
  std::string flavor_capacity;  ///< "", "Auto", "Strict", "TotalOnly", or what was written instead
  ClaimHeadroom headroom;
  std::string malformed;  ///< the first field whose JSON type is not that of the schema, with the
                          ///< type that was found; else ""

  friend bool operator==(const ClaimSpec&, const ClaimSpec&) = default;
};
/// One row of status.grants as stored: a new log begins with these grants.
struct ClaimGrant {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;
  std::string granted;  ///< canonical Quantity text

  friend auto operator<=>(const ClaimGrant&, const ClaimGrant&) = default;
};

/// galaxy.kubestellar.io ClusterResourceClaim.
struct ClaimFacts {
  ClaimSpec spec;
  LogTime created;
  bool deleting = false;
  std::vector<std::string> finalizers;  ///< all of them, in order: a release must keep the others
  std::map<std::string, std::string>
      debounce;  ///< annotations fairlead.io/debounce.<parameter>, by parameter
  std::vector<ClaimGrant> status_grants;  ///< sorted
  /// claim_status_digest of its status; zero in records without it, which are older.
  Digest status_digest;

  friend bool operator==(const ClaimFacts&, const ClaimFacts&) = default;
};

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

/// One entry of a Workload's status.admissionChecks.
struct WorkloadCheck {
  std::string name;
  std::string state;  ///< Pending, Ready, Retry, Rejected

  friend auto operator<=>(const WorkloadCheck&, const WorkloadCheck&) = default;
};

/// A pod set of a Workload whose pods may use devices or have fleet claims.
struct WorkloadPodSet {
  std::string name;
  std::int64_t count = 1;                ///< spec.podSets[].count
  std::optional<std::int64_t> admitted;  ///< status.admission.podSetAssignments[].count
  PodDeviceFacts pod;                    ///< of its template
  FleetClaimEntries fleet;               ///< of its template

  friend bool operator==(const WorkloadPodSet&, const WorkloadPodSet&) = default;
};

/// kueue.x-k8s.io Workload: the cluster that runs it, the checks that it waits for, and the devices
/// that its pods ask for.
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

  friend bool operator==(const WorkloadFacts&, const WorkloadFacts&) = default;
};

/// core/v1 Secret: never its content.
struct SecretFacts {
  std::vector<std::string> keys;  ///< of data, sorted
  /// SHA-256 of the Secret's uid and its data: it shows that the content changed, and not to what.
  Digest content;

  friend bool operator==(const SecretFacts&, const SecretFacts&) = default;
};

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

/// What a Cohort has of its own. No rule reads it: it is kept for questions about the past.
struct CohortTerms {
  std::vector<ResourceGroup> groups;
  std::optional<Quantity> weight;  ///< fairSharing.weight; Kueue takes 1 where it is absent

  friend bool operator==(const CohortTerms&, const CohortTerms&) = default;
};

/// kueue.x-k8s.io Cohort: its parent, its quotas, and the effective quota that a controller sets on
/// it.
struct CohortFacts {
  std::string parent;                          ///< spec.parentName; empty for a root
  std::optional<EffectiveQuotas> effective{};  ///< absent: the spec's groups are in force
  std::optional<CohortTerms> terms{};          ///< absent in records without it: not known

  friend bool operator==(const CohortFacts&, const CohortFacts&) = default;
};

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

/// What Facts is one of.
using AnyFacts =
    std::variant<NodeFacts, ClusterMetricsFacts, ManagedClusterFacts, ClusterProfileFacts,
                 ResourceFlavorFacts, ClusterQueueFacts, LocalQueueFacts, AdmissionCheckFacts,
                 MultiKueueConfigFacts, ManifestWorkFacts, ClaimFacts, MultiKueueClusterFacts,
                 PlacementFacts, PlacementDecisionFacts, AddOnPlacementScoreFacts, WorkloadFacts,
                 SecretFacts, CustomResourceDefinitionFacts, BindingPolicyFacts, CohortFacts,
                 MutatingAdmissionPolicyFacts, VirtualClusterFacts, NamespaceFacts,
                 ResourceQuotaFacts, PodFacts, ConfigMapFacts, ResourceSliceFacts, DeviceClassFacts,
                 ResourceClaimFacts, ResourceClaimTemplateFacts, DeviceTaintRuleFacts,
                 FleetResourceClassFacts, FleetResourceClaimFacts, FleetResourceClaimTemplateFacts,
                 FleetSchedulingFacts, TopologyFacts>;

/// The facts of one object. The alternative names the kind; see Kind in schema/kind.h.
///
/// A class, so that copies, moves, destruction and comparison of a variant of so many alternatives
/// are compiled once (facts.cpp) and not in each file that holds an event.
class Facts : public AnyFacts {
 public:
  using Base = AnyFacts;
  using AnyFacts::AnyFacts;
  using AnyFacts::operator=;

  Facts();
  Facts(const Facts& other);
  Facts(Facts&& other) noexcept;
  Facts& operator=(const Facts& other);
  Facts& operator=(Facts&& other) noexcept;
  ~Facts();

  friend bool operator==(const Facts& a, const Facts& b);
};

}  // namespace fairlead
