// What the devices of one pool count for. Internal to the fold.
#pragma once

#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// What a pool offers: its sums, and what kept devices out of them.
struct PoolOffer {
  DeviceSums sums;
  DeviceFaults faults;
};

/// Adds up the devices of `slices`, by name, each once under every name that it matches. `key` is
/// their pool.
PoolOffer offer_of(const State& state, const Cluster& cluster, const DevicePoolKey& key,
                   const std::vector<NamedSlice>& slices);

/// Whether a device matches a name: all selectors of a class that gives it are true.
enum class DeviceMatch : std::uint8_t { no, yes, error };
/// Returns the first class that `device` matches, or else what went wrong. `why` is for a person.
DeviceMatch match(const DeviceResource& resource, const std::string& driver,
                  const DeviceFacts& device, std::string& why);

/// Whether a device counts, as far as taints say: it has no NoExecute taint, and no NoSchedule
/// taint unless it is used.
bool is_healthy(const Cluster& cluster, const ResourceSliceFacts& slice, const DeviceFacts& device);

}  // namespace fairlead
