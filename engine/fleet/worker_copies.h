// The copies of a hub's Workloads on MultiKueue workers: made and deleted as Kueue's manager does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/fleet/api.h"

namespace fairlead {

/// Owned by one thread. The models outlive it.
class WorkerCopies {
 public:
  /// `workers` are the API servers by cluster.
  explicit WorkerCopies(const std::map<std::string, model::SharedModel*>& workers);

  /// Creates the missing copies of `workloads` on `cluster` and deletes those of others. A cluster
  /// without an API server has no copies.
  void follow(const std::string& cluster, const std::vector<Json>& workloads);
  std::uint64_t writes() const { return writes_; }

 private:
  std::map<std::string, Api> workers_;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
