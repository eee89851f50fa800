// The objects of a hub where OCM chooses MultiKueue's workers, as its administrator writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/time.h"
#include "engine/fleet/world.h"

namespace fairlead {

inline const std::string kKueueSystem = "kueue-system";
inline const std::string kKueueApi = "/apis/kueue.x-k8s.io/v1beta2";
inline const std::string kAdmissionChecks = kKueueApi + "/admissionchecks";
inline const std::string kWorkerConfigs = kKueueApi + "/multikueueconfigs";
inline const std::string kWorkers = kKueueApi + "/multikueueclusters";
inline const std::string kLocalQueues = kKueueApi + "/localqueues";
inline const std::string kWorkloads = kKueueApi + "/workloads";
inline const std::string kTeamWorkloads = kKueueApi + "/namespaces/team-ml/workloads";
inline const std::string kOcmBeta =
    "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/" + kKueueSystem;
inline const std::string kPlacements = kOcmBeta + "/placements";
inline const std::string kDecisions = kOcmBeta + "/placementdecisions";
inline const std::string kScoresApi = "/apis/cluster.open-cluster-management.io/v1alpha1";
inline const std::string kScores = kScoresApi + "/addonplacementscores";
inline const std::string kSecrets = "/api/v1/namespaces/" + kKueueSystem + "/secrets";
inline const std::string kProfiles =
    "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/" + kKueueSystem + "/clusterprofiles";

inline const std::string kPlacementLabel = "cluster.open-cluster-management.io/placement";
inline const std::string kGpu = "nvidia.com/gpu";
inline const std::string kGpuLabel = "accelerator";
inline const std::string kGpuModel = "nvidia-tesla-t4";
inline const std::string kScoreObject = "resource-usage-score";
inline const std::string kScoreName = "gpuClusterAvailable";

/// The kind of credential with which Kueue reaches a cluster.
enum class CredentialKind : std::uint8_t { secret, cluster_profile };

/// A cluster that may become a worker.
struct WorkerCluster {
  std::string name;
  std::int64_t gpus = 0;
  CredentialKind credential{};
  bool labelled = false;  ///< with the model of its GPUs, from the start
};

/// Returns the clusters in name order.
std::vector<WorkerCluster> worker_clusters();

/// Returns the objects of the hub before any cluster: two Placements, one for the best cluster by
/// score and one for all with a label; for each an AdmissionCheck for Fairlead, one for Kueue, a
/// ClusterQueue that uses both, and a LocalQueue.
std::vector<WorldObject> placement_objects();
/// Returns a Placement with that spec, an AdmissionCheck of it for Fairlead and one for Kueue, a
/// ClusterQueue that uses both, and a LocalQueue in team-ml.
std::vector<WorldObject> objects_of_queue(const std::string& name, const std::string& placement,
                                          Json spec);
/// Returns the objects of a cluster that joins: its namespace, its ManagedCluster and its
/// AddOnPlacementScore, still without scores.
std::vector<WorldObject> worker_cluster_objects(const WorkerCluster& cluster);
/// Returns a LocalQueue in `space` of the ClusterQueue `queue`, with the same name.
WorldObject local_queue(const std::string& space, const std::string& queue);
/// Returns spec.resourceGroups of a ClusterQueue with a quota of `gpus`.
Json gpu_groups(std::int64_t gpus);
/// Returns the objects on the API server of a worker: a Node (which needs worker_node_status as
/// well), and the queue `training` with all of its GPUs.
std::vector<WorldObject> worker_side_objects(const WorkerCluster& cluster);
Json worker_node_status(const WorkerCluster& cluster, LogTime now);
/// Returns the Secret or the ClusterProfile (which needs credential_status as well).
WorldObject credential_object(const WorkerCluster& cluster);
/// `status` of a ClusterProfile through which Kueue can connect, and of one that names no provider.
Json credential_status();
Json no_credential_status();
/// `status` of a ManagedCluster that is well.
Json available_status(LogTime now);
/// `status` of an AddOnPlacementScore.
Json score_status(std::int64_t free_gpus);
/// A job of `gpus` GPUs in the queue `training` that runs for `length`.
WorldObject training_job(const std::string& name, std::int64_t gpus, Duration length);

/// A job of a user in a LocalQueue of its namespace.
struct UserJob {
  std::string space, name, queue;
  Json requests;  ///< of its one pod: resource -> quantity
  std::int64_t priority = 0;
  Duration length;
};
/// Returns the Workload that Kueue makes of it.
WorldObject workload_of(const UserJob& job);

std::string secret_name(const std::string& cluster);
std::string score_path(const std::string& cluster);
/// These return what training_job wrote into a Workload: its GPUs (0: none), and its length (ten
/// minutes if it has none).
std::int64_t gpus_of(const Json& workload);
Duration length_of(const Json& workload);

}  // namespace fairlead
