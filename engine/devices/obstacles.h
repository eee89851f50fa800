// Judges each device for each request of a gang: whether it could be taken, and if not, why. Audits
// print that beside a refusal, which names one reason for the whole cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/devices/fit.h"

namespace fairlead {

/// Why a device could not be taken for a request, even if nothing else were asked of the cluster.
enum class DeviceObstacle : std::uint8_t {
  none,            ///< it could be taken
  selector_error,  ///< a selector of the class or the request has no answer for it
  used,            ///< it is used or reserved as a whole
  capacity,        ///< its capacities are too small, beside the shares of others
  taint,           ///< it has a taint that the request does not tolerate
  counters,        ///< too little is left of the counters of its pool
  no_node,         ///< it reaches no node on which the pod may be
};

/// A device that a request asks for.
struct DeviceRefusal {
  DeviceId device;
  std::string slice;  ///< the ResourceSlice that publishes it
  DeviceObstacle obstacle{};
  std::string detail;  ///< of a taint: `key=value:effect`

  friend bool operator==(const DeviceRefusal&, const DeviceRefusal&) = default;
};

/// A request, or one of its alternatives, of each pod of a set.
struct RequestObstacles {
  std::string pod_set;
  std::string request;  ///< `entry/request` or `entry/request/alternative`
  AllocationMode mode = AllocationMode::exact;
  std::int64_t count = 1;              ///< devices that one pod needs on one node; of mode `exact`
  std::vector<DeviceRefusal> devices;  ///< by driver, pool, slice and place in it
  std::int64_t others = 0;             ///< devices for which a selector is false
};

/// Judges each device of the complete pools for each request of the question. Empty for a question
/// that the cluster cannot be asked, because an object is missing or not understood.
std::vector<RequestObstacles> find_obstacles(ClusterDeviceIndex& devices,
                                             const FitQuestion& question);

}  // namespace fairlead
