#include "engine/fleet/world.h"

#include <algorithm>

namespace fairlead {
namespace {

constexpr std::int64_t kCpu = 96;
constexpr std::int64_t kMemoryGi = 128;

std::string gi(std::int64_t amount) { return std::to_string(amount) + "Gi"; }

Json allocatable() {
  return {{"cpu", std::to_string(kCpu)},
          {"memory", gi(kMemoryGi)},
          {"nvidia.com/gpu", "1"},
          {"pods", "110"}};
}

Json flavor(std::string_view name) {
  return {{"apiVersion", kKueue},
          {"kind", "ResourceFlavor"},
          {"metadata", {{"name", name}}},
          {"spec", {{"nodeLabels", {{"pool", name}}}}}};
}

// Every quota is 0 until Fairlead writes it.
Json cluster_queue(std::string_view name, const Json& flavors) {
  const Json resources = Json::array({"cpu", "memory", "nvidia.com/gpu"});
  Json group = {{"coveredResources", resources}, {"flavors", Json::array()}};
  for (const Json& flavor_name : flavors) {
    Json quotas = Json::array();
    for (const Json& resource : resources)
      quotas.push_back({{"name", resource}, {"nominalQuota", "0"}});
    group["flavors"].push_back({{"name", flavor_name}, {"resources", quotas}});
  }
  return {
      {"apiVersion", kKueue},
      {"kind", "ClusterQueue"},
      {"metadata", {{"name", name}}},
      {"spec", {{"namespaceSelector", Json::object()}, {"resourceGroups", Json::array({group})}}}};
}

WorldObject local_queue(const std::string& space, std::string_view queue) {
  return {"/apis/kueue.x-k8s.io/v1beta2/namespaces/" + space + "/localqueues",
          {{"apiVersion", kKueue},
           {"kind", "LocalQueue"},
           {"metadata", {{"name", "jobs"}, {"namespace", space}}},
           {"spec", {{"clusterQueue", queue}}}}};
}

Json labels_of(const Machine& machine) {
  return {{"pool", machine.layout.flavor},
          {"topology.kubernetes.io/rack", machine.layout.rack},
          {"kubernetes.io/hostname", machine.layout.name}};
}

Json taints_of(const Machine& machine) {
  Json taints = Json::array();
  if (machine.cordoned)
    taints.push_back({{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}});
  // Both effects, as the node lifecycle controller sets them on a node whose kubelet is silent.
  if (machine.down)
    for (const char* effect : {"NoExecute", "NoSchedule"})
      taints.push_back({{"key", "node.kubernetes.io/unreachable"}, {"effect", effect}});
  return taints;
}

}  // namespace

Json condition(const std::string& type, const std::string& status, const std::string& reason,
               LogTime now, const std::string& message) {
  // The API has whole seconds (metav1.Time).
  const LogTime whole{now.ns / seconds(1).ns * seconds(1).ns};
  return {{"type", type},
          {"status", status},
          {"reason", reason},
          {"message", message},
          {"lastTransitionTime", to_rfc3339(whole)}};
}

WorldObject namespace_object(const std::string& name) {
  return {kNamespaces,
          {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}}};
}

std::vector<WorldObject> hub_objects() {
  std::vector<WorldObject> out;
  for (const char* name : {"kueue-system", "team-blue", "team-green"})
    out.push_back(namespace_object(name));
  for (const std::string_view name : {kOnDemand, kSpot}) out.push_back({kFlavors, flavor(name)});
  Json high = cluster_queue(kHighQueue, Json::array({kOnDemand, kSpot}));
  high["spec"]["cohortName"] = "research";
  out.push_back({kQueues, high});
  out.push_back({kQueues, cluster_queue(kLowQueue, Json::array({kSpot}))});
  out.push_back(local_queue("team-blue", kHighQueue));
  out.push_back(local_queue("team-green", kLowQueue));
  return out;
}

WorldObject first_claim() {
  const Json share = {{"cpu", "500"}, {"memory", "500Gi"}, {"gpu", "5"}};
  Json rows = Json::array();
  rows.push_back({{"clusterQueueName", kHighQueue}, {"flavor", kOnDemand}, {"resources", share}});
  rows.push_back({{"clusterQueueName", kLowQueue}, {"flavor", kSpot}, {"resources", share}});
  return {kClaims,
          {{"apiVersion", "galaxy.kubestellar.io/v1alpha1"},
           {"kind", "ClusterResourceClaim"},
           {"metadata", {{"name", "cluster2-resource-claim"}}},
           {"spec",
            {{"clusterName", "cluster2"},
             {"nominalResources", {{"cpu", "1000"}, {"memory", "1000Gi"}, {"gpu", "10"}}},
             {"resourceAssignments", rows}}}}};
}

Json assignments(std::int64_t cpu_each) {
  const Json share = {{"cpu", std::to_string(cpu_each)},
                      {"memory", gi(cpu_each)},
                      {"nvidia.com/gpu", std::to_string(cpu_each / 100)}};
  Json rows = Json::array();
  rows.push_back({{"clusterQueueName", kHighQueue}, {"flavor", kOnDemand}, {"resources", share}});
  rows.push_back({{"clusterQueueName", kLowQueue}, {"flavor", kSpot}, {"resources", share}});
  return rows;
}

WorldObject managed_cluster(const std::string& name) {
  return {kManagedClusters,
          {{"apiVersion", "cluster.open-cluster-management.io/v1"},
           {"kind", "ManagedCluster"},
           {"metadata", {{"name", name}}},
           {"spec", {{"hubAcceptsClient", true}, {"leaseDurationSeconds", 60}}}}};
}

Json managed_cluster_status(const std::vector<Machine>& machines, LogTime now) {
  // As OCM's agent sums: without cordoned machines, but with those that stopped.
  std::int64_t count = 0;
  for (const Machine& machine : machines) count += machine.cordoned ? 0 : 1;
  return {
      {"conditions",
       Json::array({condition("HubAcceptedManagedCluster", "True", "HubClusterAdminAccepted", now),
                    condition("ManagedClusterJoined", "True", "ManagedClusterJoined", now),
                    condition("ManagedClusterConditionAvailable", "True", "ManagedClusterAvailable",
                              now)})},
      {"allocatable",
       {{"cpu", std::to_string(count * kCpu)},
        {"memory", gi(count * kMemoryGi)},
        {"nvidia.com/gpu", std::to_string(count)}}}};
}

Json silent_status(LogTime now) {
  return {
      {"conditions",
       Json::array({condition("HubAcceptedManagedCluster", "True", "HubClusterAdminAccepted", now),
                    condition("ManagedClusterJoined", "True", "ManagedClusterJoined", now),
                    condition("ManagedClusterConditionAvailable", "Unknown",
                              "ManagedClusterLeaseUpdateStopped", now)})}};
}

WorldObject cluster_metrics(const std::string& name) {
  return {kClusterMetrics,
          {{"apiVersion", "galaxy.kubestellar.io/v1alpha1"},
           {"kind", "ClusterMetrics"},
           {"metadata", {{"name", name}}}}};
}

Json cluster_metrics_status(const std::vector<Machine>& machines, std::int64_t pods) {
  Json nodes = Json::array();
  for (const Machine& machine : machines) {
    Json entry = {{"name", machine.layout.name},
                  {"allocatableResources", allocatable()},
                  {"capacityResources", allocatable()},
                  {"labels", labels_of(machine)},
                  {"taints", taints_of(machine)},
                  {"requestedResources", {{"cpu", std::to_string(pods % 90)}}}};
    if (machine.cordoned) entry["unschedulable"] = true;
    nodes.push_back(std::move(entry));
  }
  std::rotate(nodes.begin(), nodes.begin() + pods % static_cast<std::int64_t>(nodes.size()),
              nodes.end());
  return {{"nodes", std::move(nodes)}};
}

WorldObject node(const Machine& machine) {
  return {kNodes,
          {{"apiVersion", "v1"},
           {"kind", "Node"},
           {"metadata", {{"name", machine.layout.name}, {"labels", labels_of(machine)}}}}};
}

Json node_status(const Machine& machine, LogTime now) {
  return {{"allocatable", allocatable()},
          {"capacity", allocatable()},
          {"conditions",
           Json::array({machine.down ? condition("Ready", "Unknown", "NodeStatusUnknown", now)
                                     : condition("Ready", "True", "KubeletReady", now)})}};
}

Json node_spec(const Machine& machine) {
  return {{"unschedulable", machine.cordoned ? Json(true) : Json(nullptr)},
          {"taints", taints_of(machine)}};
}

}  // namespace fairlead
