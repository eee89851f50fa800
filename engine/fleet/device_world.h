// The Kubernetes objects of a driver that publishes devices.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "engine/fleet/world.h"

namespace fairlead {

inline const std::string kSlices = "/apis/resource.k8s.io/v1/resourceslices";
inline const std::string kClasses = "/apis/resource.k8s.io/v1/deviceclasses";

/// One of the slices that the devices of a node are divided into.
struct SlicePart {
  std::string driver, node;
  std::int64_t generation = 1;
  std::int64_t part = 0, parts = 1;
  std::int64_t devices = 0;       ///< of the whole node
  std::set<std::int64_t> broken;  ///< of them, by number
};

/// Returns `spec.devices` of the slice. A broken device has a NoExecute taint.
Json devices_of(const SlicePart& slice);
WorldObject resource_slice(const SlicePart& slice);
std::string slice_name(const SlicePart& slice);
/// Returns the class of all devices of `driver`, which count as `resource`.
WorldObject device_class(const std::string& driver, const std::string& resource);

}  // namespace fairlead
