// The evidence for the answer of a cluster to a consumer that asks it for devices: the objects
// that are named, the devices that are wanted, and the consumers that have them. For questions
// about Workloads and about tenants' pods.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/devices/fit.h"
#include "engine/devices/obstacles.h"
#include "engine/fold/state.h"

namespace fairlead {

class DeviceEvidence {
 public:
  /// The claims and templates that pods name. The functions return null for one that is missing.
  struct Names {
    std::string prefix;  ///< of their names: "team/"
    std::function<const DeviceRecord<ResourceClaimFacts>*(const std::string&)> claim;
    std::function<const DeviceRecord<ResourceClaimTemplateFacts>*(const std::string&)> made_from;
  };

  /// `consumer` asks; what it has reserved itself does not count as used.
  DeviceEvidence(const State& state, const std::string& cluster, const std::string& consumer);

  /// Returns the templates, claims and classes that the pods name, each once: kind, name, seq.
  Json objects(const std::vector<const PodDeviceFacts*>& pods, const Names& names) const;
  /// Returns the requests behind a refusal, with the devices for them: the one that the refusal
  /// names, or all.
  Json requests(const std::vector<RequestObstacles>& judged, const FitRefusal& refusal) const;
  /// Returns the pools whose devices do not count now.
  Json incomplete_pools() const;

 private:
  void add_reserved(const char* kind, const std::string& name, Seq seq,
                    const std::vector<FitPod>& pods);
  Json device_row(const DeviceRefusal& device) const;

  const State& state_;
  const std::string cluster_name_;
  const Cluster& cluster_;
  std::map<DeviceId, Json> users_;
};

/// Returns node and devices of each pod of a reservation. `names`: of the pod sets.
Json reserved_pods_json(const std::vector<FitPod>& pods, const std::vector<std::string>& names);

}  // namespace fairlead
