// The Kubernetes objects of a fleet, as its people and agents would write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/time.h"
#include "engine/fleet/layout.h"

namespace fairlead {

inline constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";  ///< apiVersion

inline const std::string kNamespaces = "/api/v1/namespaces";
inline const std::string kNodes = "/api/v1/nodes";
inline const std::string kFlavors = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors";
inline const std::string kQueues = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";
inline const std::string kManagedClusters =
    "/apis/cluster.open-cluster-management.io/v1/managedclusters";
inline const std::string kClusterMetrics = "/apis/galaxy.kubestellar.io/v1alpha1/clustermetrics";
inline const std::string kClaims = "/apis/galaxy.kubestellar.io/v1alpha1/clusterresourceclaims";
inline const std::string kWorks = "/apis/work.open-cluster-management.io/v1/manifestworks";

/// The current state of a machine.
struct Machine {
  MachineLayout layout;
  bool cordoned = false;
  bool down = false;
};

/// An object and the collection that it is created in.
struct WorldObject {
  std::string collection;
  Json object;
};

/// Returns the objects of the hub before any cluster: namespaces, flavors, queues.
std::vector<WorldObject> hub_objects();
/// Returns the claim of cluster2, as the administrator wrote it before the cluster had capacity.
WorldObject first_claim();
/// Returns spec.resourceAssignments that give a cluster's machines to the two queues: `cpu_each` of
/// each flavor.
Json assignments(std::int64_t cpu_each);

WorldObject namespace_object(const std::string& name);
WorldObject managed_cluster(const std::string& name);
/// `status` of a ManagedCluster: conditions and what its machines offer.
Json managed_cluster_status(const std::vector<Machine>& machines, LogTime now);
/// `status` of a ManagedCluster that stopped reporting: only the condition.
Json silent_status(LogTime now);
WorldObject cluster_metrics(const std::string& name);
/// `status` of ClusterMetrics. `pods` grows as pods come and go: it changes requests and the order
/// of the nodes, but not capacity.
Json cluster_metrics_status(const std::vector<Machine>& machines, std::int64_t pods);
WorldObject node(const Machine& machine);
/// `status` of a Node and its `spec`, as patches.
Json node_status(const Machine& machine, LogTime now);
Json node_spec(const Machine& machine);

/// A condition of status "True", "False" or "Unknown".
Json condition(const std::string& type, const std::string& status, const std::string& reason,
               LogTime now, const std::string& message = "");

}  // namespace fairlead
