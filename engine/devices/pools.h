// Pools of devices: which slices of a pool count, and whether they are all there.
//
// A pool is (cluster, driver, pool name), whatever nodes its slices are for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/kinds/devices.h"

namespace fairlead {

enum class PoolStatus : std::uint8_t { complete, incomplete, invalid };

/// A slice with its object's name.
struct NamedSlice {
  std::string_view name;
  const ResourceSliceFacts* facts;
};

/// The slices of a pool that count, which are the slices of its highest generation, by name.
struct PoolView {
  PoolStatus status = PoolStatus::complete;
  std::string why;  ///< what makes it invalid or incomplete, for a person; empty if complete
  std::vector<NamedSlice> slices;
};

/// Judges the slices of one pool, which must be sorted by name, one at least.
PoolView view_of_pool(const std::vector<NamedSlice>& slices);

/// Whether the rule selects the device. A rule without a selector selects every device.
bool selects(const DeviceTaintRuleFacts& rule, const ResourceSliceFacts& slice,
             const DeviceFacts& device);
/// Returns the NoSchedule and NoExecute taints of a device, sorted: its own, and what the rules add
/// that select it.
std::vector<Taint> taints_of(const ResourceSliceFacts& slice, const DeviceFacts& device,
                             const std::vector<const DeviceTaintRuleFacts*>& rules);

}  // namespace fairlead
