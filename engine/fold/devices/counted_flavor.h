// Under which flavor devices count: the flavor of the eligible nodes that they reach. Internal to
// the fold.
#pragma once

#include <cstdint>
#include <string>

#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Under which flavor a device counts.
struct CountedFlavor {
  enum class Where : std::uint8_t { nowhere, flavor, ambiguous };
  Where where = Where::nowhere;
  std::string flavor;    ///< empty where only totals are known
  bool growing = false;  ///< a node that it reaches does not flap
};

/// Returns under which flavor a device with this reach, which was noted, counts for `resource`.
CountedFlavor counted_flavor(CountReader state, const Cluster& cluster, const NodeReach& reach,
                             const std::string& resource);

/// Counts a node again that changed, appeared or went, and adds the pools whose devices may count
/// elsewhere now to `pools`.
void tally_node(CountReader state, Cluster& cluster, const std::string& node,
                std::set<DevicePoolKey>& pools);

/// Notes on which nodes the pool's count depends: those that the devices of its present slices
/// reach, and of those that were kept. Replaces what was noted before.
void note_reach(CountReader state, Cluster& cluster, const DevicePoolKey& pool);
/// Whether a device of the pool says which nodes it reaches without naming one.
bool reaches_widely(const DeviceCapacityPart& part, const DevicePoolKey& pool);

}  // namespace fairlead
