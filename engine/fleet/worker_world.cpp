#include "engine/fleet/worker_world.h"

#include <utility>

#include "engine/base/quantity.h"

namespace fairlead {
namespace {

constexpr std::string_view kOcm = "cluster.open-cluster-management.io/v1beta1";
constexpr Duration kLengthDefault = minutes(10);
const std::string kLengthAnnotation = "fairlead.io/dev-length";

Json object(std::string_view version, const char* kind, const std::string& name) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

WorldObject placement_of(const std::string& name, Json spec) {
  Json placement = object(kOcm, "Placement", name);
  placement["spec"] = std::move(spec);
  return {kPlacements, std::move(placement)};
}

WorldObject check(const std::string& name, const char* controller, const char* group,
                  const char* kind, const std::string& target) {
  Json check = object(kKueue, "AdmissionCheck", name);
  check["spec"] = {{"controllerName", controller},
                   {"parameters", {{"apiGroup", group}, {"kind", kind}, {"name", target}}}};
  return {kAdmissionChecks, std::move(check)};
}

WorldObject queue(const std::string& name, const std::string& placement) {
  Json queue = object(kKueue, "ClusterQueue", name);
  Json checks = Json::array({{{"name", placement + "-placement"}}});
  checks.push_back({{"name", placement + "-multikueue"}});
  queue["spec"] = {{"namespaceSelector", Json::object()},
                   {"admissionChecksStrategy", {{"admissionChecks", checks}}},
                   {"resourceGroups", gpu_groups(64)}};
  return {kQueues, std::move(queue)};
}

Json best_score() {
  const Json add_on = {{"resourceName", kScoreObject}, {"scoreName", kScoreName}};
  const Json score = {{"weight", 1}, {"scoreCoordinate", {{"type", "AddOn"}, {"addOn", add_on}}}};
  return {{"numberOfClusters", 1},
          {"prioritizerPolicy", {{"mode", "Exact"}, {"configurations", Json::array({score})}}}};
}

Json with_label() {
  const Json selector = {{"labelSelector", {{"matchLabels", {{kGpuLabel, kGpuModel}}}}}};
  return {{"predicates", Json::array({{{"requiredClusterSelector", selector}}})}};
}

}  // namespace

std::vector<WorkerCluster> worker_clusters() {
  return {{"east", 16, CredentialKind::secret, true},
          {"north", 6, CredentialKind::cluster_profile, true},
          {"west", 12, CredentialKind::secret, false}};
}

std::vector<WorldObject> placement_objects() {
  std::vector<WorldObject> out{namespace_object(kKueueSystem), namespace_object("team-ml")};
  out.push_back({kFlavors, object(kKueue, "ResourceFlavor", "gpu")});
  for (WorldObject& one : objects_of_queue("training", "best", best_score()))
    out.push_back(std::move(one));
  for (WorldObject& one : objects_of_queue("serving", "t4", with_label()))
    out.push_back(std::move(one));
  return out;
}

std::vector<WorldObject> objects_of_queue(const std::string& name, const std::string& placement,
                                          Json spec) {
  return {placement_of(placement, std::move(spec)),
          check(placement + "-placement", "open-cluster-management.io/placement",
                "cluster.open-cluster-management.io", "Placement", placement),
          check(placement + "-multikueue", "kueue.x-k8s.io/multikueue", "kueue.x-k8s.io",
                "MultiKueueConfig", placement),
          queue(name, placement), local_queue("team-ml", name)};
}

WorldObject local_queue(const std::string& space, const std::string& queue) {
  Json local = object(kKueue, "LocalQueue", queue);
  local["metadata"]["namespace"] = space;
  local["spec"] = {{"clusterQueue", queue}};
  return {kKueueApi + "/namespaces/" + space + "/localqueues", std::move(local)};
}

Json gpu_groups(std::int64_t gpus) {
  const Json quota = {{"name", kGpu}, {"nominalQuota", std::to_string(gpus)}};
  const Json flavor = {{"name", "gpu"}, {"resources", Json::array({quota})}};
  return Json::array(
      {{{"coveredResources", Json::array({kGpu})}, {"flavors", Json::array({flavor})}}});
}

std::vector<WorldObject> worker_side_objects(const WorkerCluster& cluster) {
  Json queue = object(kKueue, "ClusterQueue", "training");
  queue["spec"] = {{"namespaceSelector", Json::object()},
                   {"resourceGroups", gpu_groups(cluster.gpus)}};
  Json node = object("v1", "Node", cluster.name + "-1");
  node["metadata"]["labels"] = {{"kubernetes.io/hostname", cluster.name + "-1"}};
  return {namespace_object("team-ml"),
          {kFlavors, object(kKueue, "ResourceFlavor", "gpu")},
          {kQueues, std::move(queue)},
          local_queue("team-ml", "training"),
          {kNodes, std::move(node)}};
}

Json worker_node_status(const WorkerCluster& cluster, LogTime now) {
  const Json amounts = {
      {"cpu", "96"}, {"memory", "512Gi"}, {"pods", "110"}, {kGpu, std::to_string(cluster.gpus)}};
  return {{"allocatable", amounts},
          {"capacity", amounts},
          {"conditions", Json::array({condition("Ready", "True", "KubeletReady", now)})}};
}

std::vector<WorldObject> worker_cluster_objects(const WorkerCluster& cluster) {
  WorldObject managed = managed_cluster(cluster.name);
  if (cluster.labelled) managed.object["metadata"]["labels"] = {{kGpuLabel, kGpuModel}};
  Json score =
      object("cluster.open-cluster-management.io/v1alpha1", "AddOnPlacementScore", kScoreObject);
  score["metadata"]["namespace"] = cluster.name;
  return {namespace_object(cluster.name),
          std::move(managed),
          {kScoresApi + "/namespaces/" + cluster.name + "/addonplacementscores", std::move(score)}};
}

WorldObject credential_object(const WorkerCluster& cluster) {
  if (cluster.credential == CredentialKind::secret) {
    Json secret = object("v1", "Secret", secret_name(cluster.name));
    secret["metadata"]["namespace"] = kKueueSystem;
    secret["stringData"] = {{"kubeconfig", "of " + cluster.name}};
    return {kSecrets, std::move(secret)};
  }
  Json profile = object("multicluster.x-k8s.io/v1alpha1", "ClusterProfile", cluster.name);
  profile["metadata"]["namespace"] = kKueueSystem;
  profile["metadata"]["labels"] = {{"open-cluster-management.io/cluster-name", cluster.name}};
  profile["spec"] = {{"displayName", cluster.name},
                     {"clusterManager", {{"name", "open-cluster-management"}}}};
  return {kProfiles, std::move(profile)};
}

Json credential_status() {
  const Json provider = {{"name", "open-cluster-management"},
                         {"cluster", {{"server", "https://127.0.0.1:1"}}}};
  return {{"accessProviders", Json::array({provider})}};
}

Json no_credential_status() { return {{"accessProviders", Json::array()}}; }

Json available_status(LogTime now) {
  return {{"conditions", managed_cluster_status({}, now)["conditions"]}};
}

Json score_status(std::int64_t free_gpus) {
  const Json score = {{"name", kScoreName}, {"value", free_gpus}};
  return {{"scores", Json::array({score})}};
}

WorldObject workload_of(const UserJob& job) {
  Json workload = object(kKueue, "Workload", job.name);
  workload["metadata"]["namespace"] = job.space;
  workload["metadata"]["annotations"] = {{kLengthAnnotation, to_go_duration(job.length)}};
  const Json container = {
      {"name", "main"}, {"image", "train"}, {"resources", {{"requests", job.requests}}}};
  const Json pod = {{"restartPolicy", "Never"}, {"containers", Json::array({container})}};
  const Json pods = {{"name", "main"}, {"count", 1}, {"template", {{"spec", pod}}}};
  workload["spec"] = {{"queueName", job.queue}, {"podSets", Json::array({pods})}};
  if (job.priority != 0) workload["spec"]["priority"] = job.priority;
  return {kKueueApi + "/namespaces/" + job.space + "/workloads", std::move(workload)};
}

WorldObject training_job(const std::string& name, std::int64_t gpus, Duration length) {
  return workload_of({"team-ml", name, "training", {{kGpu, std::to_string(gpus)}}, 0, length});
}

std::string secret_name(const std::string& cluster) {
  return "kueue-admin-" + cluster + "-kubeconfig";
}

std::string score_path(const std::string& cluster) {
  return kScoresApi + "/namespaces/" + cluster + "/addonplacementscores/" + kScoreObject;
}

// A user may have written this Workload: any field may be missing or of another type.
std::int64_t gpus_of(const Json& workload) {
  std::int64_t sum = 0;
  for (const Json& pods : workload.value("/spec/podSets"_json_pointer, Json::array()))
    for (const Json& container :
         pods.value("/template/spec/containers"_json_pointer, Json::array())) {
      const Json requests = container.value("/resources/requests"_json_pointer, Json::object());
      const Json amount = requests.value(kGpu, Json());
      const auto parsed =
          Quantity::parse(amount.is_string() ? amount.get<std::string>() : to_text(amount));
      if (parsed) sum += to_amount(kGpu, *parsed) * pods.value("count", std::int64_t{1});
    }
  return sum;
}

Duration length_of(const Json& workload) {
  const Json annotations = workload["metadata"].value("annotations", Json::object());
  const auto length = parse_go_duration(annotations.value(kLengthAnnotation, ""));
  return length.value_or(kLengthDefault);
}

}  // namespace fairlead
