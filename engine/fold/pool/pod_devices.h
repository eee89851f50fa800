// Devices of tenants' pods: what a super cluster answers to a pod that asks for devices.
// pod_reservations.h has what is reserved there once it is decided where the pod goes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/devices/obstacles.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Whether `resource` is devices in the cluster: the implicit name of a class, or an extended
/// resource that a DeviceClass there gives. Any other resource is the nodes' own.
bool gives_devices(const Cluster& cluster, const std::string& resource);
/// Whether the pod asks the cluster for devices.
bool asks_for_devices(const Cluster& cluster, const PodFacts& pod);

/// Returns the entry of that name if it names a claim; else null.
const PodClaim* named_entry(const PodDeviceFacts& pod, const std::string& entry);

/// Returns the question of the pod `key` to a member: `asks` is what the pod asks for, or what is
/// left of it. The question refers to `state` and `asks`.
FitQuestion question_of_pod(PoolReader state, const PoolPodKey& key, const PodDeviceFacts& asks,
                            const std::string& member);

/// Returns a text that is equal for pods of a namespace that ask for the same, so that they get
/// equal answers while nothing changes; empty for a pod that names a claim, because its answer
/// depends on that claim. The pod must have facts of devices.
std::string asks_of_pod(const PoolPodKey& key, PoolPod& pod);

/// What a super cluster answers to a pod.
struct PodDevicesAnswer {
  std::string reason;  ///< "NoDevices", "Pinned"; empty: it fits, or asks for no devices there
  std::string detail;  ///< "gpu/r"
  FitAnswer fit;       ///< where it fits
};

/// Asks super clusters for the devices of one pod, in one moment.
class PodDevices {
 public:
  /// `key` names `pod`.
  PodDevices(PoolRoom state, const PoolPodKey& key, PoolPod& pod);
  /// Returns what the super cluster answers.
  PodDevicesAnswer at(const std::string& id);

 private:
  PoolRoom state_;
  const PoolPodKey& key_;
  PoolPod& pod_;
  // Super clusters where claims that the pod names are allocated or reserved -> the first entry.
  std::map<std::string, std::string> pins_;
};

/// Returns what the super cluster answers now, as if what the pod itself has reserved were free.
/// For audits.
PodDevicesAnswer devices_for(PoolReader state, const PoolPodKey& key, const std::string& id);
/// Returns how many devices of the classes that the pod asks for would be left if it were placed
/// there; nullopt where it does not fit.
std::optional<std::int64_t> devices_left(PoolReader state, const PoolPodKey& key,
                                         const std::string& id);
/// Returns why each device there can or cannot be taken for the pod. Empty where the cluster cannot
/// be asked.
std::vector<RequestObstacles> obstacles_of(PoolReader state, const PoolPodKey& key,
                                           const std::string& id);

}  // namespace fairlead
