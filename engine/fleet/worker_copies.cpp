#include "engine/fleet/worker_copies.h"

#include <set>

#include "engine/fleet/worker_world.h"
#include "engine/fleet/workload_status.h"

namespace fairlead {
namespace {

constexpr const char* kOriginLabel = "kueue.x-k8s.io/multikueue-origin";
constexpr const char* kOrigin = "multikueue";  // Kueue's default, one for all of a hub's copies

std::string key_of(const Json& workload) { return space_of(workload) + "/" + name_of(workload); }

std::string collection_of(const Json& workload) {
  return kKueueApi + "/namespaces/" + space_of(workload) + "/workloads";
}

Json copy_of(const Json& workload) {
  const Json& metadata = workload["metadata"];
  Json labels = metadata.value("labels", Json::object());
  labels[kOriginLabel] = kOrigin;
  return {{"apiVersion", kKueue},
          {"kind", "Workload"},
          {"metadata",
           {{"name", metadata["name"]},
            {"namespace", metadata["namespace"]},
            {"labels", std::move(labels)},
            {"annotations", metadata.value("annotations", Json::object())}}},
          {"spec", workload["spec"]}};
}

}  // namespace

WorkerCopies::WorkerCopies(const std::map<std::string, model::SharedModel*>& workers) {
  for (const auto& [name, server] : workers) workers_.emplace(name, Api(*server, "kueue-admin"));
}

void WorkerCopies::follow(const std::string& cluster, const std::vector<Json>& workloads) {
  const auto worker = workers_.find(cluster);
  if (worker == workers_.end()) return;
  const Api& api = worker->second;
  std::set<std::string> there, wanted;
  for (const Json& workload : workloads) wanted.insert(key_of(workload));
  for (const Json& copy : api.items(kWorkloads)) {
    if (copy["metadata"].value("labels", Json::object()).value(kOriginLabel, "") != kOrigin)
      continue;
    there.insert(key_of(copy));
    if (wanted.contains(key_of(copy))) continue;
    ++writes_;
    (void)api.remove(collection_of(copy) + "/" + name_of(copy));
  }
  for (const Json& workload : workloads) {
    if (there.contains(key_of(workload))) continue;
    ++writes_;
    (void)api.create(collection_of(workload), copy_of(workload));
  }
}

}  // namespace fairlead
