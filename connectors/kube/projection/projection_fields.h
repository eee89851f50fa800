// The readers that the projections of several kinds share, and the projections themselves, one a
// kind.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kube/document/json_document.h"
#include "schema/event.h"
#include "schema/facts.h"

namespace fairlead::projection {

/// Reads a Quantity from a string or a number token; nullopt for anything else.
std::optional<Quantity> quantity(JsonView value);
/// Reads resource -> amount; entries that are no quantities are left out.
ResourceAmounts amounts(JsonView object);
/// The string members of an object.
Labels labels(JsonView object);
std::map<std::string, std::string> strings(JsonView object);
/// The string items of an array, in order.
std::vector<std::string> string_items(JsonView array);
/// All taints with a key and an effect, sorted, each once.
std::vector<Taint> taints(JsonView array);
/// Only those that keep a Pod away: NoSchedule and NoExecute.
std::vector<Taint> repelling_taints(JsonView array);
/// The condition of that type in status.conditions.
ConditionFacts condition(JsonView status, std::string_view type);
ConditionStatus condition_status(std::string_view word);
/// spec.resourceGroups.
std::vector<ResourceGroup> resource_groups(JsonView array);
/// status.flavorsUsage, sorted.
std::vector<FlavorUsage> flavors_usage(JsonView array);
/// The entries of metadata.managedFields that own spec.resourceGroups or a part of it, in their
/// order. An entry whose operation is neither Apply nor Update counts as absent.
std::vector<FieldWriter> quota_writers(JsonView object);
/// metadata.deletionTimestamp is set.
bool deleting(JsonView object);
/// Sorted, each once.
template <class T>
void make_set(std::vector<T>& items);

NodeFacts node(JsonView object);
ClusterMetricsFacts cluster_metrics(JsonView object);
ManagedClusterFacts managed_cluster(JsonView object);
ClusterProfileFacts cluster_profile(JsonView object);
ResourceFlavorFacts resource_flavor(JsonView object);
ClusterQueueFacts cluster_queue(JsonView object);
LocalQueueFacts local_queue(JsonView object);
AdmissionCheckFacts admission_check(JsonView object);
MultiKueueConfigFacts multikueue_config(JsonView object);
ManifestWorkFacts manifest_work(JsonView object);
ClaimFacts claim(JsonView object);
MultiKueueClusterFacts multikueue_cluster(JsonView object);
PlacementFacts placement(JsonView object);
PlacementDecisionFacts placement_decision(JsonView object);
AddOnPlacementScoreFacts addon_placement_score(JsonView object);
WorkloadFacts workload(JsonView object);
SecretFacts secret(JsonView object);
CustomResourceDefinitionFacts custom_resource_definition(JsonView object);
BindingPolicyFacts binding_policy(JsonView object);
CohortFacts cohort(JsonView object);
MutatingAdmissionPolicyFacts mutating_admission_policy(JsonView object);
VirtualClusterFacts virtual_cluster(JsonView object);
NamespaceFacts namespace_of(JsonView object);
ResourceQuotaFacts resource_quota(JsonView object);
PodFacts pod(JsonView object);
ConfigMapFacts config_map(JsonView object);

}  // namespace fairlead::projection

#include <algorithm>

template <class T>
void fairlead::projection::make_set(std::vector<T>& items) {
  const auto out_of_order = [](const T& a, const T& b) { return !(a < b); };
  if (std::adjacent_find(items.begin(), items.end(), out_of_order) == items.end()) return;
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}
