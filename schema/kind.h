// The kinds that Fairlead reads. A kind has a value of Kind, the type of its facts and a row of
// names and traits, each last in its list here; everything that is done for each kind follows from
// these lists: CONTRIBUTING.md, "Adding a kind that Fairlead reads".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace fairlead {

/// In the order of FactsOfKinds, so that `Facts::index()` is the Kind.
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

template <class... T>
struct TypeList {
  static constexpr std::size_t size = sizeof...(T);
  template <template <class...> class Of>
  using In = Of<T...>;
  /// The position of F; `size` if it is not there.
  template <class F>
  static constexpr std::size_t position = [] {
    constexpr std::array<bool, size> same{std::is_same_v<T, F>...};
    std::size_t at = 0;
    while (at < size && !same[at]) ++at;
    return at;
  }();
};

/// What is kept of an object, by its kind: a struct of schema/kinds/ each.
using FactsOfKinds =
    TypeList<struct NodeFacts, struct ClusterMetricsFacts, struct ManagedClusterFacts,
             struct ClusterProfileFacts, struct ResourceFlavorFacts, struct ClusterQueueFacts,
             struct LocalQueueFacts, struct AdmissionCheckFacts, struct MultiKueueConfigFacts,
             struct ManifestWorkFacts, struct ClaimFacts, struct MultiKueueClusterFacts,
             struct PlacementFacts, struct PlacementDecisionFacts, struct AddOnPlacementScoreFacts,
             struct WorkloadFacts, struct SecretFacts, struct CustomResourceDefinitionFacts,
             struct BindingPolicyFacts, struct CohortFacts, struct MutatingAdmissionPolicyFacts,
             struct VirtualClusterFacts, struct NamespaceFacts, struct ResourceQuotaFacts,
             struct PodFacts, struct ConfigMapFacts, struct ResourceSliceFacts,
             struct DeviceClassFacts, struct ResourceClaimFacts, struct ResourceClaimTemplateFacts,
             struct DeviceTaintRuleFacts, struct FleetResourceClassFacts,
             struct FleetResourceClaimFacts, struct FleetResourceClaimTemplateFacts,
             struct FleetSchedulingFacts, struct TopologyFacts>;
inline constexpr std::size_t kKindCount = FactsOfKinds::size;

/// Whether F is the type of the facts of a kind.
template <class F>
concept IsFacts = FactsOfKinds::position<F> < kKindCount;

/// The kind of some facts.
template <IsFacts F>
inline constexpr Kind kKindOf = static_cast<Kind>(FactsOfKinds::position<F>);

/// Names a kind to an overload, by the type of its facts.
template <IsFacts F>
struct KindOf {};

template <class Result, class Use, class... F>
Result with_kind_of(TypeList<F...>, Kind kind, const Use& use) {
  using Call = Result (*)(const Use&);
  static constexpr std::array<Call, sizeof...(F)> kCalls{
      [](const Use& with) -> Result { return with(KindOf<F>()); }...};
  return kCalls[static_cast<std::size_t>(kind)](use);
}
/// Calls `use` with the KindOf of `kind`, and returns what it returns.
template <class Result, class Use>
Result with_kind(Kind kind, const Use& use) {
  return with_kind_of<Result>(FactsOfKinds(), kind, use);
}

// What is special about a kind, as bits of KindInfo::traits.
inline constexpr std::uint16_t kIsNamespaced = 1 << 0;
/// Fairlead reads it of the hub. Nodes and devices of the hub are no member's capacity, but
/// bookings ask for devices by its templates of claims.
inline constexpr std::uint16_t kIsOfHub = 1 << 1;
/// A hub that only records (Configuration::record) reads it: quotas, by which flavors the Nodes of
/// members count for them, and the Workloads that wait for quota, here or at the workers of
/// MultiKueue. Such a hub needs none of the CRDs of Fairlead, OCM and KubeStellar.
inline constexpr std::uint16_t kIsRecorded = 1 << 2;
/// People write it, so the whole object is kept beside its facts.
inline constexpr std::uint16_t kIsByPeople = 1 << 3;
/// Every quota depends on this kind of the hub: while its stream is silent, an edit of a quota or
/// of a claim is not observed.
inline constexpr std::uint16_t kIsOfEveryQuota = 1 << 4;
/// Only the path from Placements to MultiKueue reads this kind of the hub: the rest of Fairlead
/// works without it.
inline constexpr std::uint16_t kIsOfMultiKueuePath = 1 << 5;
/// It belongs to Dynamic Resource Allocation. An API server may serve none of these kinds, or some:
/// nothing but devices depends on them.
inline constexpr std::uint16_t kIsOfDevices = 1 << 6;
/// It belongs to fleet claims: nothing but Workloads with such claims depends on these kinds.
inline constexpr std::uint16_t kIsOfFleetClaims = 1 << 7;
/// Fairlead reads it of members: Nodes for their capacity, the queues that it placed there and the
/// Workloads in them, devices with what asks for them, and of a super cluster its id and the
/// tenants' namespaces.
inline constexpr std::uint16_t kIsOfMember = 1 << 8;
/// Fairlead reads it of tenants of the super cluster pool.
inline constexpr std::uint16_t kIsOfTenant = 1 << 9;
/// A hub that may not read this kind reports that and continues: without BindingPolicies only while
/// it writes none, without VirtualClusters with the tenants of pool.tenants alone. As all kinds of
/// the MultiKueue path and of fleet claims (may_stay_unread).
inline constexpr std::uint16_t kMayStayUnread = 1 << 10;

/// What Fairlead knows of a kind before it reads an object of it.
struct KindInfo {
  Kind kind;
  std::string_view group;     ///< "" for core
  std::string_view name;      ///< CamelCase kind
  std::string_view resource;  ///< plural, lower case
  std::string_view versions;  ///< API versions that we read, best first, separated by commas
  std::uint16_t traits;

  constexpr bool has(std::uint16_t trait) const { return (traits & trait) != 0; }
};

inline constexpr std::array<KindInfo, kKindCount> kKinds{{
    {Kind::node, "", "Node", "nodes", "v1", kIsOfMember},
    {Kind::cluster_metrics, "galaxy.kubestellar.io", "ClusterMetrics", "clustermetrics", "v1alpha1",
     kIsOfHub},
    {Kind::managed_cluster, "cluster.open-cluster-management.io", "ManagedCluster",
     "managedclusters", "v1", kIsOfHub},
    {Kind::cluster_profile, "multicluster.x-k8s.io", "ClusterProfile", "clusterprofiles",
     "v1alpha1", kIsNamespaced | kIsOfHub},
    {Kind::resource_flavor, "kueue.x-k8s.io", "ResourceFlavor", "resourceflavors",
     "v1beta2,v1beta1", kIsOfHub | kIsRecorded | kIsByPeople},
    {Kind::cluster_queue, "kueue.x-k8s.io", "ClusterQueue", "clusterqueues", "v1beta2,v1beta1",
     kIsOfHub | kIsOfMember | kIsRecorded | kIsByPeople | kIsOfEveryQuota},
    {Kind::local_queue, "kueue.x-k8s.io", "LocalQueue", "localqueues", "v1beta2,v1beta1",
     kIsNamespaced | kIsOfHub | kIsOfMember | kIsRecorded | kIsByPeople},
    {Kind::admission_check, "kueue.x-k8s.io", "AdmissionCheck", "admissionchecks",
     "v1beta2,v1beta1", kIsOfHub | kIsByPeople},
    {Kind::multikueue_config, "kueue.x-k8s.io", "MultiKueueConfig", "multikueueconfigs",
     "v1beta2,v1beta1", kIsOfHub | kIsByPeople},
    {Kind::manifest_work, "work.open-cluster-management.io", "ManifestWork", "manifestworks", "v1",
     kIsNamespaced | kIsOfHub},
    {Kind::claim, "galaxy.kubestellar.io", "ClusterResourceClaim", "clusterresourceclaims",
     "v1alpha1", kIsOfHub | kIsByPeople | kIsOfEveryQuota},
    {Kind::multikueue_cluster, "kueue.x-k8s.io", "MultiKueueCluster", "multikueueclusters",
     "v1beta2,v1beta1", kIsOfHub | kIsRecorded | kIsByPeople | kIsOfMultiKueuePath},
    {Kind::placement, "cluster.open-cluster-management.io", "Placement", "placements", "v1beta1",
     kIsNamespaced | kIsOfHub | kIsByPeople | kIsOfMultiKueuePath},
    {Kind::placement_decision, "cluster.open-cluster-management.io", "PlacementDecision",
     "placementdecisions", "v1beta1", kIsNamespaced | kIsOfHub | kIsOfMultiKueuePath},
    {Kind::addon_placement_score, "cluster.open-cluster-management.io", "AddOnPlacementScore",
     "addonplacementscores", "v1alpha1", kIsNamespaced | kIsOfHub | kIsOfMultiKueuePath},
    {Kind::workload, "kueue.x-k8s.io", "Workload", "workloads", "v1beta2,v1beta1",
     kIsNamespaced | kIsOfHub | kIsOfMember | kIsRecorded | kIsOfMultiKueuePath},
    {Kind::secret, "", "Secret", "secrets", "v1", kIsNamespaced | kIsOfHub | kIsOfMultiKueuePath},
    {Kind::custom_resource_definition, "apiextensions.k8s.io", "CustomResourceDefinition",
     "customresourcedefinitions", "v1", kIsOfHub | kIsOfMultiKueuePath},
    {Kind::binding_policy, "control.kubestellar.io", "BindingPolicy", "bindingpolicies", "v1alpha1",
     kIsOfHub | kMayStayUnread},
    {Kind::cohort, "kueue.x-k8s.io", "Cohort", "cohorts", "v1beta2,v1beta1",
     kIsOfHub | kIsOfMember | kIsRecorded | kIsByPeople | kMayStayUnread},
    {Kind::mutating_admission_policy, "admissionregistration.k8s.io", "MutatingAdmissionPolicy",
     "mutatingadmissionpolicies", "v1,v1beta1", kIsOfHub | kIsOfMultiKueuePath},
    {Kind::virtual_cluster, "tenancy.x-k8s.io", "VirtualCluster", "virtualclusters", "v1alpha1",
     kIsNamespaced | kIsOfHub | kMayStayUnread},
    {Kind::namespace_, "", "Namespace", "namespaces", "v1", kIsOfMember | kIsOfTenant},
    {Kind::resource_quota, "", "ResourceQuota", "resourcequotas", "v1",
     kIsNamespaced | kIsOfTenant},
    {Kind::pod, "", "Pod", "pods", "v1", kIsNamespaced | kIsOfMember | kIsOfTenant},
    {Kind::config_map, "", "ConfigMap", "configmaps", "v1", kIsNamespaced | kIsOfMember},
    {Kind::resource_slice, "resource.k8s.io", "ResourceSlice", "resourceslices",
     "v1,v1beta2,v1beta1", kIsOfMember | kIsOfDevices},
    {Kind::device_class, "resource.k8s.io", "DeviceClass", "deviceclasses", "v1,v1beta2,v1beta1",
     kIsOfMember | kIsOfDevices},
    {Kind::resource_claim, "resource.k8s.io", "ResourceClaim", "resourceclaims",
     "v1,v1beta2,v1beta1", kIsNamespaced | kIsOfMember | kIsOfTenant | kIsOfDevices},
    {Kind::resource_claim_template, "resource.k8s.io", "ResourceClaimTemplate",
     "resourceclaimtemplates", "v1,v1beta2,v1beta1",
     kIsNamespaced | kIsOfHub | kIsOfMember | kIsOfTenant | kIsOfDevices | kMayStayUnread},
    {Kind::device_taint_rule, "resource.k8s.io", "DeviceTaintRule", "devicetaintrules",
     "v1,v1beta2,v1alpha3", kIsOfMember | kIsOfDevices},
    {Kind::fleet_resource_class, "dra.fairlead.io", "FleetResourceClass", "fleetresourceclasses",
     "v1alpha1", kIsOfHub | kIsOfFleetClaims},
    {Kind::fleet_resource_claim, "dra.fairlead.io", "FleetResourceClaim", "fleetresourceclaims",
     "v1alpha1", kIsNamespaced | kIsOfHub | kIsOfFleetClaims},
    {Kind::fleet_resource_claim_template, "dra.fairlead.io", "FleetResourceClaimTemplate",
     "fleetresourceclaimtemplates", "v1alpha1", kIsNamespaced | kIsOfHub | kIsOfFleetClaims},
    {Kind::fleet_scheduling, "dra.fairlead.io", "FleetScheduling", "fleetschedulings", "v1alpha1",
     kIsNamespaced | kIsOfHub | kIsOfFleetClaims},
    {Kind::topology, "kueue.x-k8s.io", "Topology", "topologies", "v1beta2,v1beta1",
     kIsOfHub | kIsByPeople | kMayStayUnread},
}};

constexpr const KindInfo& info(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

/// Returns the kind of a group and CamelCase name; nullopt if Fairlead does not read it.
constexpr std::optional<Kind> find_kind(std::string_view group, std::string_view name) {
  for (const KindInfo& row : kKinds)
    if (row.group == group && row.name == name) return row.kind;
  return std::nullopt;
}

constexpr bool is_namespaced(Kind kind) { return info(kind).has(kIsNamespaced); }
constexpr bool is_of_multikueue_path(Kind kind) { return info(kind).has(kIsOfMultiKueuePath); }
constexpr bool is_of_devices(Kind kind) { return info(kind).has(kIsOfDevices); }
constexpr bool is_of_fleet_claims(Kind kind) { return info(kind).has(kIsOfFleetClaims); }
constexpr bool is_of_every_quota(Kind kind) { return info(kind).has(kIsOfEveryQuota); }
/// Returns whether the hub can run without reading this kind.
constexpr bool may_stay_unread(Kind kind) {
  return is_of_multikueue_path(kind) || is_of_fleet_claims(kind) || info(kind).has(kMayStayUnread);
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

/// In the order of WrittenKind. A member's agent writes LocalQueues, out of our ManifestWork.
inline constexpr std::array kWrittenKinds{Kind::cluster_queue,        Kind::claim,
                                          Kind::manifest_work,        Kind::binding_policy,
                                          Kind::multikueue_config,    Kind::multikueue_cluster,
                                          Kind::admission_check,      Kind::workload,
                                          Kind::namespace_,           Kind::pod,
                                          Kind::fleet_resource_claim, Kind::fleet_scheduling};

/// Returns `kind` among those that Fairlead writes; nullopt for one that it only reads. Every
/// switch over what is written is one over WrittenKind, so that the kinds that are never written
/// are listed nowhere.
constexpr std::optional<WrittenKind> written_kind(Kind kind) {
  for (std::size_t i = 0; i < kWrittenKinds.size(); ++i)
    if (kWrittenKinds[i] == kind) return static_cast<WrittenKind>(i);
  return std::nullopt;
}

static_assert([] {
  for (std::size_t i = 0; i < kKindCount; ++i)
    if (kKinds[i].kind != static_cast<Kind>(i)) return false;
  return true;
}());

}  // namespace fairlead
