// Where capacity comes from: machines, clusters and the flavors that sort them.
#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

NodeFacts node(JsonView object) {
  const auto [metadata, spec, status] = object.members("metadata", "spec", "status");
  const auto [taints, unschedulable] = spec.members("taints", "unschedulable");
  return {.labels = labels(metadata["labels"]),
          .taints = repelling_taints(taints),
          .unschedulable = unschedulable.is_true(),
          .ready = condition(status, "Ready").status == ConditionStatus::yes,
          .allocatable = amounts(status["allocatable"])};
}

ClusterMetricsFacts cluster_metrics(JsonView object) {
  ClusterMetricsFacts out;
  for (JsonView item : object["status"]["nodes"]) {
    const std::string_view name = item["name"].string();
    if (name.empty()) continue;
    NodeFacts machine;
    machine.labels = labels(item["labels"]);
    machine.taints = repelling_taints(item["taints"]);
    machine.unschedulable = item["unschedulable"].is_true();
    machine.ready = true;  // ClusterMetrics has no readiness; the taints decide
    machine.allocatable = amounts(item["allocatableResources"]);
    out.nodes.insert_or_assign(std::string(name), std::move(machine));
  }
  return out;
}

ManagedClusterFacts managed_cluster(JsonView object) {
  ManagedClusterFacts out;
  // Never status.capacity, in which keys of removed resources remain.
  out.allocatable = amounts(object["status"]["allocatable"]);
  out.available = condition(object["status"], "ManagedClusterConditionAvailable");
  out.deleting = deleting(object);
  const std::string_view name = object["metadata"]["name"].string();
  out.labelled = !name.empty() && object["metadata"]["labels"]["name"].string() == name;
  return out;
}

ResourceFlavorFacts resource_flavor(JsonView object) {
  JsonView spec = object["spec"];
  ResourceFlavorFacts out;
  out.node_labels = strings(spec["nodeLabels"]);
  out.node_taints = taints(spec["nodeTaints"]);
  out.tolerations = tolerations(spec["tolerations"]);
  make_set(out.tolerations);
  out.topology_name = spec["topologyName"].string();
  return out;
}

}  // namespace fairlead::projection
