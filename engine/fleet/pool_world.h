// The objects of a super cluster pool, as its administrator, its tenants and VirtualCluster write
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/quantity.h"
#include "engine/base/time.h"
#include "engine/fleet/world.h"

namespace fairlead {

inline const std::string kVirtualClusters =
    "/apis/tenancy.x-k8s.io/v1alpha1/namespaces/default/virtualclusters";
inline const std::string kSliceKey = "scheduler.virtualcluster.io/slice";
inline const std::string kPlacementsKey = "scheduler.virtualcluster.io/placements";
inline const std::string kSuperClusterKey = "scheduler.virtualcluster.io/superCluster";
inline const std::string kTenantKey = "tenancy.x-k8s.io/cluster";
inline const std::string kTenantNamespaceKey = "tenancy.x-k8s.io/namespace";
inline const std::string kTenantUidKey = "tenancy.x-k8s.io/uid";
/// Label of a pod: the app that it belongs to.
inline const std::string kAppLabel = "app";

/// An amount of cpu and memory, as Kubernetes writes it.
struct CpuAndMemory {
  std::string cpu;
  std::string memory;

  friend bool operator==(const CpuAndMemory&, const CpuAndMemory&) = default;
};

/// Every machine of a super cluster offers this.
inline const CpuAndMemory kPoolMachine{"8", "32Gi"};

/// A namespace of a tenant: its quota, and the app that runs in it, which has the namespace's name.
struct PoolApp {
  std::string tenant;
  std::string name;
  std::int64_t quota_cpu = 0;  ///< of an ordinary day; see quota_of
  CpuAndMemory each;           ///< of one pod
  std::int64_t replicas = 0;   ///< of an ordinary day

  /// `acme/web`.
  std::string id() const { return tenant + "/" + name; }
};

/// Returns the names of the tenants and of the super clusters, in order.
std::vector<std::string> pool_tenants();
std::vector<std::string> super_clusters();
/// Returns the apps by tenant and name.
std::vector<PoolApp> pool_apps();
/// Returns a quota of `cpu`, and of as much memory as fills the same slices.
CpuAndMemory quota_of(std::int64_t cpu);
/// Returns the machines of a super cluster.
std::vector<MachineLayout> super_cluster_machines(const std::string& cluster);

/// Returns the objects of the hub for a tenant: its namespace, the Secret with the kubeconfig of
/// its API server, and its VirtualCluster, which runs.
std::vector<WorldObject> tenant_on_hub(const std::string& tenant, const std::string& kubeconfig);
/// Returns the ResourceQuota of an app's namespace.
WorldObject quota_object(const std::string& namespace_, const CpuAndMemory& quota);
/// Returns the ConfigMap that names a super cluster.
WorldObject super_cluster_info(const std::string& id);
/// `status` of a Node of a super cluster, as a patch.
Json super_node_status(const Machine& machine, LogTime now);
/// Returns a pod of an app.
WorldObject app_pod(const PoolApp& app, const std::string& name);
/// `spec` of a ResourceQuota, as a patch.
Json quota_spec(const CpuAndMemory& quota);

std::string pods_of(const std::string& namespace_);
std::string quota_path(const std::string& namespace_);

/// These read objects that a user may have written: any field may be missing or of another type.
std::string annotation_of(const Json& object, const std::string& key);
std::string label_of(const Json& object, const std::string& key);
/// Returns the ids in the placements annotation, with their slices. What the syncer cannot read
/// counts as no id at all.
std::map<std::string, std::int64_t> listed_ids(const Json& tenant_namespace);
/// Returns what the containers of a pod request of cpu or memory.
Amount requested(const Json& pod, const std::string& resource);
std::string node_of(const Json& pod);
bool is_over(const Json& pod);

}  // namespace fairlead
