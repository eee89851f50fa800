// Where capacity comes from: machines, clusters and the flavors that sort them.
#include <array>

#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

namespace {

// Amounts of capacity. No API server lets a negative one pass, and it would take away what other
// machines offer.
ResourceAmounts capacity(JsonView map, std::string_view field, ObjectRefusal& refused) {
  ResourceAmounts all = amounts(map);
  for (const auto& [resource, amount] : all)
    if (amount < 0)
      refused.note(std::string(field) + "." + std::string(resource), "expected a quantity >= 0");
  return all;
}

}  // namespace

template <>
NodeFacts facts_of(JsonView object, ApiReading& api) {
  const auto [metadata, spec, status] = object.members("metadata", "spec", "status");
  const auto [taints, unschedulable] = spec.members("taints", "unschedulable");
  return {.labels = labels(metadata["labels"]),
          .taints = repelling_taints(taints),
          .unschedulable = unschedulable.is_true(),
          .ready = condition(status, "Ready").status == ConditionStatus::yes,
          .allocatable = capacity(status["allocatable"], "status.allocatable", api.refused)};
}

template <>
ClusterMetricsFacts facts_of(JsonView object, ApiReading& api) {
  ClusterMetricsFacts out;
  for (JsonView item : object["status"]["nodes"]) {
    const std::string_view name = item["name"].string();
    if (name.empty()) continue;
    NodeFacts machine;
    machine.labels = labels(item["labels"]);
    machine.taints = repelling_taints(item["taints"]);
    machine.unschedulable = item["unschedulable"].is_true();
    machine.ready = true;  // ClusterMetrics has no readiness; the taints decide
    machine.allocatable =
        capacity(item["allocatableResources"], "status.nodes.allocatableResources", api.refused);
    out.nodes.insert_or_assign(std::string(name), std::move(machine));
  }
  return out;
}

template <>
ManagedClusterFacts facts_of(JsonView object, ApiReading& api) {
  ManagedClusterFacts out;
  // Never status.capacity, in which keys of removed resources remain.
  out.allocatable = capacity(object["status"]["allocatable"], "status.allocatable", api.refused);
  out.available = condition(object["status"], "ManagedClusterConditionAvailable");
  out.deleting = deleting(object);
  const std::string_view name = object["metadata"]["name"].string();
  out.labelled = !name.empty() && object["metadata"]["labels"]["name"].string() == name;
  return out;
}

template <>
ResourceFlavorFacts facts_of(JsonView object, ApiReading&) {
  JsonView spec = object["spec"];
  ResourceFlavorFacts out;
  out.node_labels = strings(spec["nodeLabels"]);
  out.node_taints = taints(spec["nodeTaints"]);
  out.tolerations = tolerations(spec["tolerations"]);
  make_set(out.tolerations);
  out.topology_name = spec["topologyName"].string();
  return out;
}

std::span<const KindProjection> capacity_projections() {
  static constexpr std::array kAll{
      projection_of<NodeFacts>(
          "metadata.annotations status.conditions.*.lastHeartbeatTime "
          "status.{images,volumesInUse,volumesAttached,nodeInfo,daemonEndpoints} "
          "status.{addresses,runtimeHandlers}"),
      projection_of<ClusterMetricsFacts>(
          "status.nodes.*.{capacityResources,usage,requests,limits}"),
      projection_of<ManagedClusterFacts>(
          "metadata.annotations status.{clusterClaims,capacity,version}"),
      projection_of<ResourceFlavorFacts>()};
  return kAll;
}

}  // namespace fairlead::projection
