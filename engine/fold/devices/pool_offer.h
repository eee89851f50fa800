// What the devices of one pool count for. Internal to the fold.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// What a pool offers: its sums, and what kept devices out of them.
struct PoolOffer {
  DeviceSums sums;
  DeviceFaults faults;
  /// Devices whose counters are taken by those that count: a GPU, once its partitions count.
  std::set<std::string> left_out;
};

/// Adds up the devices of `slices`, by name, each once under every name that it matches. `key` is
/// their pool.
///
/// Of devices that consume counters as many count as can be allocated together: those in use, then
/// by the order of their names (DeviceResource::order), then by slice and place in it. One whose
/// counters do not suffice beside what is in use and what counts already is left out.
PoolOffer offer_of(CountReader state, const Cluster& cluster, const DevicePoolKey& key,
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
