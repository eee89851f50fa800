// Under which flavor devices stand: that of the eligible nodes which they reach. Internal to the
// fold.
#pragma once

#include <cstdint>
#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// Where a device counts.
struct DeviceStand {
  enum class Where : std::uint8_t { nowhere, flavor, ambiguous };
  Where where = Where::nowhere;
  std::string flavor;    ///< empty where only totals are known
  bool growing = false;  ///< a node that it reaches does not flap
};

/// Returns where a device with this reach counts for `resource`. `users` is its pool: it is noted
/// that its count depends on the nodes.
DeviceStand stand_of(const State& state, Cluster& cluster, const NodeReach& reach,
                     const std::string& resource, const DevicePoolKey& pool);

/// Counts a node again that changed, appeared or went, and adds the pools whose devices may stand
/// elsewhere now to `pools`.
void tally_node(const State& state, Cluster& cluster, const std::string& node,
                std::set<DevicePoolKey>& pools);

/// Forgets what `pool` depends on, before it is counted again.
void forget_reach(DeviceIndex& index, const DevicePoolKey& pool);

}  // namespace fairlead
