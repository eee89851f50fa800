// Who uses which device, with what the use costs.
//
// A use is pinned when it is first seen: what the device cost then is copied, and later slices do
// not change it, so that a driver that republishes its devices does not move what others may take.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/base/quantity.h"
#include "schema/kinds/devices.h"

namespace fairlead {

/// A device of one cluster. A pool's name alone means nothing.
struct DeviceId {
  std::string driver;
  std::string pool;
  std::string device;

  friend auto operator<=>(const DeviceId&, const DeviceId&) = default;
};
/// Returns `driver/pool/device`.
std::string text(const DeviceId& id);

/// Amounts of capacities by their names, as the device spells them.
using Capacities = std::map<std::string, Quantity>;

/// How it is known which counters of its pool a use takes.
enum class UseCost : std::uint8_t {
  published,  ///< the slices as they are now: reservations
  pinned,     ///< DeviceUse::counters
  unknown,    ///< the device was not published when the use was first seen
};

/// One use of a device, by a claim, a booking or a reservation.
struct DeviceUse {
  DeviceId device;
  bool share = false;  ///< of a shared device: uses no more than `consumed`
  Capacities consumed;
  UseCost cost = UseCost::published;
  std::vector<CounterSet> counters;  ///< by set; only where the cost is pinned

  friend bool operator==(const DeviceUse&, const DeviceUse&) = default;
};

/// An amount of node.status.allocatable[resource], which the node's device plugin serves.
struct PluginUse {
  std::string node;
  std::string resource;
  Amount amount = 0;

  friend bool operator==(const PluginUse&, const PluginUse&) = default;
};

/// Returns the facts of a device in the slices that count now; null if it is not published.
using PublishedDevice = std::function<const DeviceFacts*(const DeviceId&)>;

/// Returns the uses that an allocation makes, in its order, pinned to what is published now. A
/// result with adminAccess uses nothing.
std::vector<DeviceUse> pin_uses(const ClaimAllocation& allocation,
                                const PublishedDevice& published);

}  // namespace fairlead
