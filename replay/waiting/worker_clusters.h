// Which member a name in status.nominatedClusterNames or status.clusterName means.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schema/event.h"

namespace fairlead {

/// Knows the MultiKueueClusters and MultiKueueConfigs of the hub, also those that are gone: a wait
/// of the past names them.
class WorkerClusters {
 public:
  void configure(const Configuration& configuration) { configuration_ = configuration; }
  void observe(const std::string& name, const MultiKueueClusterFacts& cluster);
  void observe(const std::string& name, const MultiKueueConfigFacts& config);

  /// Returns the member behind a MultiKueueCluster by the names that Fairlead gives
  /// (engine/fold/multikueue/names.h). One that Fairlead did not make has the member's own name.
  std::string cluster_of(const std::string& worker) const;
  /// Whether the Workloads of members are never read.
  bool reads_no_copies() const {
    return configuration_.workloads.of_members == MemberWorkloads::no;
  }

 private:
  Configuration configuration_;
  std::map<std::string, std::string> placement_of_;             // by MultiKueueCluster of ours
  std::map<std::string, std::vector<std::string>> configs_of_;  // of ours, by a name in their list
};

}  // namespace fairlead
