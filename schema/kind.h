// The kinds that Fairlead reads, in one table that the connector and the codec use. A row here is
// the first of some twenty places of a new kind: CONTRIBUTING.md, "Adding a kind that Fairlead
// reads", has all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

/// In the order of the alternatives of Facts: `Facts::index()` is the Kind.
enum class Kind : std::uint8_t {
  node,
  cluster_metrics,
  managed_cluster,
  cluster_profile,
  resource_flavor,
  cluster_queue,
  local_queue,
  admission_check,
  multikueue_config,
  manifest_work,
  claim,
  multikueue_cluster,
  placement,
  placement_decision,
  addon_placement_score,
  workload,
  secret,
  custom_resource_definition,
  binding_policy,
  cohort,
  mutating_admission_policy,
  virtual_cluster,
  namespace_,
  resource_quota,
  pod,
  config_map,
  resource_slice,
  device_class,
  resource_claim,
  resource_claim_template,
  device_taint_rule,
  fleet_resource_class,
  fleet_resource_claim,
  fleet_resource_claim_template,
  fleet_scheduling,
  topology,
};
inline constexpr std::size_t kKindCount = 36;

/// The names of a kind in Kubernetes.
struct KindInfo {
  Kind kind;
  std::string_view group;     ///< "" for core
  std::string_view name;      ///< CamelCase kind
  std::string_view resource;  ///< plural, lower case
  bool namespaced;
  std::string_view versions;  ///< API versions that we read, best first, separated by commas
};

inline constexpr std::array<KindInfo, kKindCount> kKinds{{
    {Kind::node, "", "Node", "nodes", false, "v1"},
    {Kind::cluster_metrics, "galaxy.kubestellar.io", "ClusterMetrics", "clustermetrics", false,
     "v1alpha1"},
    {Kind::managed_cluster, "cluster.open-cluster-management.io", "ManagedCluster",
     "managedclusters", false, "v1"},
    {Kind::cluster_profile, "multicluster.x-k8s.io", "ClusterProfile", "clusterprofiles", true,
     "v1alpha1"},
    {Kind::resource_flavor, "kueue.x-k8s.io", "ResourceFlavor", "resourceflavors", false,
     "v1beta2,v1beta1"},
    {Kind::cluster_queue, "kueue.x-k8s.io", "ClusterQueue", "clusterqueues", false,
     "v1beta2,v1beta1"},
    {Kind::local_queue, "kueue.x-k8s.io", "LocalQueue", "localqueues", true, "v1beta2,v1beta1"},
    {Kind::admission_check, "kueue.x-k8s.io", "AdmissionCheck", "admissionchecks", false,
     "v1beta2,v1beta1"},
    {Kind::multikueue_config, "kueue.x-k8s.io", "MultiKueueConfig", "multikueueconfigs", false,
     "v1beta2,v1beta1"},
    {Kind::manifest_work, "work.open-cluster-management.io", "ManifestWork", "manifestworks", true,
     "v1"},
    {Kind::claim, "galaxy.kubestellar.io", "ClusterResourceClaim", "clusterresourceclaims", false,
     "v1alpha1"},
    {Kind::multikueue_cluster, "kueue.x-k8s.io", "MultiKueueCluster", "multikueueclusters", false,
     "v1beta2,v1beta1"},
    {Kind::placement, "cluster.open-cluster-management.io", "Placement", "placements", true,
     "v1beta1"},
    {Kind::placement_decision, "cluster.open-cluster-management.io", "PlacementDecision",
     "placementdecisions", true, "v1beta1"},
    {Kind::addon_placement_score, "cluster.open-cluster-management.io", "AddOnPlacementScore",
     "addonplacementscores", true, "v1alpha1"},
    {Kind::workload, "kueue.x-k8s.io", "Workload", "workloads", true, "v1beta2,v1beta1"},
    {Kind::secret, "", "Secret", "secrets", true, "v1"},
    {Kind::custom_resource_definition, "apiextensions.k8s.io", "CustomResourceDefinition",
     "customresourcedefinitions", false, "v1"},
    {Kind::binding_policy, "control.kubestellar.io", "BindingPolicy", "bindingpolicies", false,
     "v1alpha1"},
    {Kind::cohort, "kueue.x-k8s.io", "Cohort", "cohorts", false, "v1beta2,v1beta1"},
    {Kind::mutating_admission_policy, "admissionregistration.k8s.io", "MutatingAdmissionPolicy",
     "mutatingadmissionpolicies", false, "v1,v1beta1"},
    {Kind::virtual_cluster, "tenancy.x-k8s.io", "VirtualCluster", "virtualclusters", true,
     "v1alpha1"},
    {Kind::namespace_, "", "Namespace", "namespaces", false, "v1"},
    {Kind::resource_quota, "", "ResourceQuota", "resourcequotas", true, "v1"},
    {Kind::pod, "", "Pod", "pods", true, "v1"},
    {Kind::config_map, "", "ConfigMap", "configmaps", true, "v1"},
    {Kind::resource_slice, "resource.k8s.io", "ResourceSlice", "resourceslices", false,
     "v1,v1beta2,v1beta1"},
    {Kind::device_class, "resource.k8s.io", "DeviceClass", "deviceclasses", false,
     "v1,v1beta2,v1beta1"},
    {Kind::resource_claim, "resource.k8s.io", "ResourceClaim", "resourceclaims", true,
     "v1,v1beta2,v1beta1"},
    {Kind::resource_claim_template, "resource.k8s.io", "ResourceClaimTemplate",
     "resourceclaimtemplates", true, "v1,v1beta2,v1beta1"},
    {Kind::device_taint_rule, "resource.k8s.io", "DeviceTaintRule", "devicetaintrules", false,
     "v1,v1beta2,v1alpha3"},
    {Kind::fleet_resource_class, "dra.fairlead.io", "FleetResourceClass", "fleetresourceclasses",
     false, "v1alpha1"},
    {Kind::fleet_resource_claim, "dra.fairlead.io", "FleetResourceClaim", "fleetresourceclaims",
     true, "v1alpha1"},
    {Kind::fleet_resource_claim_template, "dra.fairlead.io", "FleetResourceClaimTemplate",
     "fleetresourceclaimtemplates", true, "v1alpha1"},
    {Kind::fleet_scheduling, "dra.fairlead.io", "FleetScheduling", "fleetschedulings", true,
     "v1alpha1"},
    {Kind::topology, "kueue.x-k8s.io", "Topology", "topologies", false, "v1beta2,v1beta1"},
}};

constexpr const KindInfo& info(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

/// Returns the kind of a group and CamelCase name; nullopt if Fairlead does not read it.
constexpr std::optional<Kind> find_kind(std::string_view group, std::string_view name) {
  for (const KindInfo& row : kKinds)
    if (row.group == group && row.name == name) return row.kind;
  return std::nullopt;
}

/// Returns whether only the path from Placements to MultiKueue reads this kind of the hub: the rest
/// of Fairlead works without it.
constexpr bool is_of_multikueue_path(Kind kind) {
  switch (kind) {
    case Kind::multikueue_cluster:
    case Kind::placement:
    case Kind::placement_decision:
    case Kind::addon_placement_score:
    case Kind::workload:
    case Kind::secret:
    case Kind::custom_resource_definition:
    case Kind::mutating_admission_policy: return true;
    case Kind::node:
    case Kind::cluster_metrics:
    case Kind::managed_cluster:
    case Kind::cluster_profile:
    case Kind::resource_flavor:
    case Kind::cluster_queue:
    case Kind::local_queue:
    case Kind::admission_check:
    case Kind::multikueue_config:
    case Kind::manifest_work:
    case Kind::claim:
    case Kind::binding_policy:
    case Kind::cohort:
    case Kind::virtual_cluster:
    case Kind::namespace_:
    case Kind::resource_quota:
    case Kind::pod:
    case Kind::config_map:
    case Kind::resource_slice:
    case Kind::device_class:
    case Kind::resource_claim:
    case Kind::resource_claim_template:
    case Kind::device_taint_rule:
    case Kind::fleet_resource_class:
    case Kind::fleet_resource_claim:
    case Kind::fleet_resource_claim_template:
    case Kind::fleet_scheduling:
    case Kind::topology: return false;
  }
  return false;
}

/// The kinds of the objects that Fairlead writes itself.
enum class WrittenKind : std::uint8_t {
  cluster_queue,
  claim,
  manifest_work,
  binding_policy,
  multikueue_config,
  multikueue_cluster,
  admission_check,
  workload,
  namespace_,  ///< of a tenant
  pod,         ///< of a tenant
  fleet_resource_claim,
  fleet_scheduling,
};

/// Returns `kind` among those that Fairlead writes; nullopt for one that it only reads. Every
/// switch over what is written is one over WrittenKind, so that the kinds that are never written
/// are listed here alone.
constexpr std::optional<WrittenKind> written_kind(Kind kind) {
  switch (kind) {
    case Kind::cluster_queue: return WrittenKind::cluster_queue;
    case Kind::claim: return WrittenKind::claim;
    case Kind::manifest_work: return WrittenKind::manifest_work;
    case Kind::binding_policy: return WrittenKind::binding_policy;
    case Kind::multikueue_config: return WrittenKind::multikueue_config;
    case Kind::multikueue_cluster: return WrittenKind::multikueue_cluster;
    case Kind::admission_check: return WrittenKind::admission_check;
    case Kind::workload: return WrittenKind::workload;
    case Kind::namespace_: return WrittenKind::namespace_;
    case Kind::pod: return WrittenKind::pod;
    case Kind::fleet_resource_claim: return WrittenKind::fleet_resource_claim;
    case Kind::fleet_scheduling: return WrittenKind::fleet_scheduling;
    case Kind::node:
    case Kind::cluster_metrics:
    case Kind::managed_cluster:
    case Kind::cluster_profile:
    case Kind::resource_flavor:
    case Kind::local_queue:  // a member's agent writes it, out of our ManifestWork
    case Kind::placement:
    case Kind::placement_decision:
    case Kind::addon_placement_score:
    case Kind::secret:
    case Kind::custom_resource_definition:
    case Kind::cohort:
    case Kind::mutating_admission_policy:
    case Kind::virtual_cluster:
    case Kind::resource_quota:
    case Kind::config_map:
    case Kind::resource_slice:
    case Kind::device_class:
    case Kind::resource_claim:
    case Kind::resource_claim_template:
    case Kind::device_taint_rule:
    case Kind::fleet_resource_class:
    case Kind::fleet_resource_claim_template:
    case Kind::topology: return std::nullopt;
  }
  return std::nullopt;
}

/// Returns whether the kind is one of Dynamic Resource Allocation. An API server may serve none of
/// them, or some: nothing but devices depends on them.
constexpr bool is_of_devices(Kind kind) {
  return kind == Kind::resource_slice || kind == Kind::device_class ||
         kind == Kind::resource_claim || kind == Kind::resource_claim_template ||
         kind == Kind::device_taint_rule;
}

/// Returns whether the kind is one of fleet claims: nothing but Workloads with such claims depends
/// on them.
constexpr bool is_of_fleet_claims(Kind kind) {
  return kind == Kind::fleet_resource_class || kind == Kind::fleet_resource_claim ||
         kind == Kind::fleet_resource_claim_template || kind == Kind::fleet_scheduling;
}

/// Returns whether every quota depends on this kind of the hub: while its stream is silent, an edit
/// of a quota or of a claim is not observed.
constexpr bool is_of_every_quota(Kind kind) {
  return kind == Kind::cluster_queue || kind == Kind::claim;
}

}  // namespace fairlead
