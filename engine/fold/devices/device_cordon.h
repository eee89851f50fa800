// A cordoned node takes its devices along: what they counted for falls at once. Internal to the
// fold.
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// What the pools with devices on a node counted for before it was cordoned.
struct DeviceCordon {
  std::map<DevicePoolKey, DeviceSums> before;
  std::set<CapacityKey> keys;  ///< what devices of that node alone count for where it is eligible
};

/// Called before the facts of the node change.
DeviceCordon begin_device_cordon(CountReader state, Cluster& cluster, const std::string& node);
/// Called after they have changed, and note_node was.
void conclude_device_cordon(CountReader state, Cluster& cluster, const DeviceCordon& cordon);

}  // namespace fairlead
