#include "engine/fleet/pool_world.h"

#include <utility>

namespace fairlead {
namespace {

constexpr int kMachinesEach = 3;

Json core_object(const char* kind, const std::string& name, const std::string& namespace_) {
  return {{"apiVersion", "v1"},
          {"kind", kind},
          {"metadata", {{"name", name}, {"namespace", namespace_}}}};
}

Json amounts_json(const CpuAndMemory& amounts) {
  return {{"cpu", amounts.cpu}, {"memory", amounts.memory}};
}

std::string text_in(const Json& object, const char* part, const std::string& key) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end()) return "";
  const auto texts = metadata->find(part);
  if (texts == metadata->end() || !texts->is_object()) return "";
  const auto text = texts->find(key);
  return text != texts->end() && text->is_string() ? text->get<std::string>() : "";
}

}  // namespace

std::vector<std::string> pool_tenants() { return {"acme", "bolt"}; }
std::vector<std::string> super_clusters() { return {"r1", "r2", "r3"}; }

std::vector<PoolApp> pool_apps() {
  const CpuAndMemory small{"500m", "1Gi"}, large{"1500m", "2Gi"};
  return {{"acme", "batch", 8, large, 2},
          {"acme", "web", 12, large, 3},
          {"bolt", "api", 6, small, 3},
          {"bolt", "db", 8, large, 2}};
}

CpuAndMemory quota_of(std::int64_t cpu) {
  return {std::to_string(cpu), std::to_string(2 * cpu) + "Gi"};
}

std::vector<MachineLayout> super_cluster_machines(const std::string& cluster) {
  std::vector<MachineLayout> out;
  for (int number = 1; number <= kMachinesEach; ++number)
    out.push_back({cluster + "-" + std::to_string(number), "general", "rack-a"});
  return out;
}

std::vector<WorldObject> tenant_on_hub(const std::string& tenant, const std::string& kubeconfig) {
  Json secret = core_object("Secret", "admin-kubeconfig", tenant);
  secret["stringData"] = {{"admin-kubeconfig", kubeconfig}};
  Json cluster = core_object("VirtualCluster", tenant, "default");
  cluster["apiVersion"] = "tenancy.x-k8s.io/v1alpha1";
  cluster["status"] = {{"phase", "Running"}, {"clusterNamespace", tenant}};
  return {namespace_object(tenant),
          {kNamespaces + "/" + tenant + "/secrets", std::move(secret)},
          {kVirtualClusters, std::move(cluster)}};
}

WorldObject quota_object(const std::string& namespace_, const CpuAndMemory& quota) {
  Json object = core_object("ResourceQuota", "quota", namespace_);
  object["spec"] = quota_spec(quota);
  return {kNamespaces + "/" + namespace_ + "/resourcequotas", std::move(object)};
}

WorldObject super_cluster_info(const std::string& id) {
  Json info = core_object("ConfigMap", "supercluster-info", "kube-system");
  info["data"] = {{"id", id}};
  return {kNamespaces + "/kube-system/configmaps", std::move(info)};
}

Json super_node_status(const Machine& machine, LogTime now) {
  Json status = node_status(machine, now);
  for (const char* what : {"allocatable", "capacity"}) {
    status[what] = amounts_json(kPoolMachine);
    status[what]["pods"] = "110";
  }
  return status;
}

WorldObject app_pod(const PoolApp& app, const std::string& name) {
  Json pod = core_object("Pod", name, app.name);
  pod["metadata"]["labels"] = {{kAppLabel, app.name}};
  const Json container = {
      {"name", "main"}, {"image", app.name}, {"resources", {{"requests", amounts_json(app.each)}}}};
  pod["spec"] = {{"containers", Json::array({container})}};
  return {pods_of(app.name), std::move(pod)};
}

Json quota_spec(const CpuAndMemory& quota) { return {{"hard", amounts_json(quota)}}; }

std::string pods_of(const std::string& namespace_) {
  return kNamespaces + "/" + namespace_ + "/pods";
}
std::string quota_path(const std::string& namespace_) {
  return kNamespaces + "/" + namespace_ + "/resourcequotas/quota";
}

std::string annotation_of(const Json& object, const std::string& key) {
  return text_in(object, "annotations", key);
}
std::string label_of(const Json& object, const std::string& key) {
  return text_in(object, "labels", key);
}

std::map<std::string, std::int64_t> listed_ids(const Json& tenant_namespace) {
  const Json value = read_json(annotation_of(tenant_namespace, kPlacementsKey));
  if (!value.is_object()) return {};
  std::map<std::string, std::int64_t> ids;
  for (const auto& [id, slices] : value.items()) {
    if (!slices.is_number_integer()) return {};
    ids[id] = slices.get<std::int64_t>();
  }
  return ids;
}

Amount requested(const Json& pod, const std::string& resource) {
  Int128 sum = 0;
  for (const Json& container : pod.value("/spec/containers"_json_pointer, Json::array())) {
    const Json requests = container.value("/resources/requests"_json_pointer, Json::object());
    const Json amount = requests.value(resource, Json());
    const auto parsed =
        Quantity::parse(amount.is_string() ? amount.get<std::string>() : to_text(amount));
    if (parsed) sum += to_amount(resource, *parsed);
  }
  return saturate(sum);
}

std::string node_of(const Json& pod) { return pod.value("/spec/nodeName"_json_pointer, ""); }

bool is_over(const Json& pod) {
  const std::string phase = pod.value("/status/phase"_json_pointer, "");
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace fairlead
