// Facts of a family of kinds (schema/facts.h): the kinds that report what clusters have, and which
// nodes a quota is for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schema/kinds/values.h"

namespace fairlead {

/// One machine, from a core/v1 Node or from ClusterMetrics.
struct NodeFacts {
  Labels labels;
  std::vector<Taint> taints;  ///< NoSchedule and NoExecute only, sorted
  bool unschedulable = false;
  bool ready = false;  ///< always true from ClusterMetrics, which does not report it
  ResourceAmounts allocatable;

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};
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

/// galaxy.kubestellar.io ClusterMetrics. Without nodes the capacity is UNKNOWN, never zero.
struct ClusterMetricsFacts {
  std::map<std::string, NodeFacts> nodes;  ///< by node name

  friend bool operator==(const ClusterMetricsFacts&, const ClusterMetricsFacts&) = default;
};
template <class V, Of<ClusterMetricsFacts> T>
void fields(V& visit, T& metrics) {
  visit.field("nodes", metrics.nodes);
}

/// cluster.open-cluster-management.io ManagedCluster.
struct ManagedClusterFacts {
  ResourceAmounts allocatable;
  ConditionFacts available;  ///< ManagedClusterConditionAvailable
  bool deleting = false;
  bool labelled = false;  ///< its label `name` is its own name, by which a BindingPolicy selects it

  friend bool operator==(const ManagedClusterFacts&, const ManagedClusterFacts&) = default;
};
template <class V, Of<ManagedClusterFacts> T>
void fields(V& visit, T& cluster) {
  visit.field("allocatable", cluster.allocatable);
  visit.field("available", cluster.available);
  visit.field("deleting", cluster.deleting);
  visit.field("labelled", cluster.labelled, kSparse);
}

/// multicluster.x-k8s.io ClusterProfile.
struct ClusterProfileFacts {
  std::string cluster;    ///< label open-cluster-management.io/cluster-name, else the object's name
  bool labelled = false;  ///< `cluster` comes from the label
  std::vector<std::string>
      access_providers;  ///< names in status.accessProviders, else credentialProviders; sorted

  friend bool operator==(const ClusterProfileFacts&, const ClusterProfileFacts&) = default;
};
template <class V, Of<ClusterProfileFacts> T>
void fields(V& visit, T& profile) {
  visit.field("cluster", profile.cluster);
  visit.field("labelled", profile.labelled);
  visit.field("accessProviders", profile.access_providers);
}

/// kueue.x-k8s.io ResourceFlavor.
struct ResourceFlavorFacts {
  std::map<std::string, std::string> node_labels;
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
  std::string topology_name;

  friend bool operator==(const ResourceFlavorFacts&, const ResourceFlavorFacts&) = default;
};
template <class V, Of<ResourceFlavorFacts> T>
void fields(V& visit, T& flavor) {
  visit.field("nodeLabels", flavor.node_labels);
  visit.field("nodeTaints", flavor.node_taints);
  visit.field("tolerations", flavor.tolerations);
  visit.field("topologyName", flavor.topology_name);
}

/// kueue.x-k8s.io Topology: the node labels that name each level (block, rack, host), widest level
/// first.
struct TopologyFacts {
  std::vector<std::string> levels;  ///< spec.levels[].nodeLabel

  friend bool operator==(const TopologyFacts&, const TopologyFacts&) = default;
};
template <class V, Of<TopologyFacts> T>
void fields(V& visit, T& topology) {
  visit.field("levels", topology.levels);
}

}  // namespace fairlead
