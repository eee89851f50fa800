#include "replay/waiting/worker_clusters.h"

#include <algorithm>
#include <string_view>

#include "engine/fold/multikueue/names.h"

namespace fairlead {

void WorkerClusters::observe(const std::string& name, const MultiKueueClusterFacts& cluster) {
  constexpr std::string_view kPlacement = "placement/";
  if (cluster.mark.ours() && cluster.mark.owner.starts_with(kPlacement))
    placement_of_[name] = cluster.mark.owner.substr(kPlacement.size());
}

void WorkerClusters::observe(const std::string& name, const MultiKueueConfigFacts& config) {
  if (!config.mark.ours()) return;
  for (const std::string& worker : config.clusters) {
    std::vector<std::string>& configs = configs_of_[worker];
    if (std::find(configs.begin(), configs.end(), name) == configs.end()) configs.push_back(name);
  }
}

std::string WorkerClusters::cluster_of(const std::string& worker) const {
  if (const auto at = placement_of_.find(worker); at != placement_of_.end())
    if (auto cluster = cluster_of_worker(configuration_, at->second, worker)) return *cluster;
  // The config of a Placement has its name.
  if (const auto at = configs_of_.find(worker); at != configs_of_.end())
    for (const std::string& placement : at->second)
      if (auto cluster = cluster_of_worker(configuration_, placement, worker)) return *cluster;
  return worker;
}

}  // namespace fairlead
