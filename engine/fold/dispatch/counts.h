// The dispatch by devices in numbers, for metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

struct DispatchCounts {
  /// Published devices of the clusters that are searched, each in the first state that applies:
  /// "incomplete" (of a pool that does not count), "used", "reserved", "tainted", "free".
  std::map<std::string, std::size_t> devices;
  std::map<std::string, std::size_t> decisions;  ///< Workloads, by the reason of DevicesReserved
  std::size_t reservations = 0;                  ///< Workloads and pods of tenants with one
  std::size_t broken = 0;                        ///< of them, those that lost a device
  std::uint64_t steps = 0;  ///< devices tried for decisions, in the indexes that there are now
};

/// Walks all Workloads and devices. Of a cluster that no search has looked at it counts no device.
DispatchCounts count_dispatch(DispatchReader state);

}  // namespace fairlead
