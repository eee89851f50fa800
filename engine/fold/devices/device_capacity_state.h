// The part of State about devices as capacity: what the pools of one cluster add to its sums.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/boxed.h"
#include "engine/base/shared_value.h"
#include "engine/devices/pools.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/liveness.h"
#include "engine/fold/devices/device_index.h"
#include "engine/fold/memo.h"
#include "schema/event.h"
#include "schema/kinds/devices.h"

namespace fairlead {

/// What devices add to a capacity value: in all, and for growing (without nodes that flap).
struct DeviceSum {
  Int128 offered = 0;
  Int128 growing = 0;

  friend bool operator==(const DeviceSum&, const DeviceSum&) = default;
};
using DeviceSums = std::map<CapacityKey, DeviceSum>;

/// Why devices of a cluster are not counted, in the order in which condition DevicesKnown reports.
enum class DeviceReason : std::uint8_t {
  pool_invalid,
  pool_updating,
  selector_unsupported,
  selector_error,
  flavor_ambiguous,
  device_overlap,
  counters_shared,
};
inline constexpr std::size_t kDeviceReasonCount = 7;

/// What is wrong with a pool, or a class, for a person: the first kDeviceFaultsMax of each reason.
using DeviceFaults = std::map<DeviceReason, std::vector<std::string>>;
inline constexpr std::size_t kDeviceFaultsMax = 4;

/// A slice as a pool keeps it while it is being updated.
struct KeptSlice {
  std::string name;
  Shared<ResourceSliceFacts> facts;
  Seq seq;

  friend bool operator==(const KeptSlice&, const KeptSlice&) = default;
};

/// The last complete view of a pool.
struct KeptView {
  std::vector<KeptSlice> slices;
  std::optional<LogTime> held_until;  ///< the pool is counted by them; kForever never occurs

  friend bool operator==(const KeptView&, const KeptView&) = default;
};

/// A pool of devices, and what it counts for. Mostly there is one for each node: what most of them
/// lack is boxed, and neighbours share equal sums.
struct DevicePool {
  PoolStatus status = PoolStatus::incomplete;  ///< at the last close
  Boxed<KeptView> kept;     ///< in an open moment of a pool that was complete, and while it is held
  Shared<DeviceSums> sums;  ///< what it adds to Cluster::capacity now
  Boxed<DeviceFaults> faults;
  Memo<DevicePoolIndex> index;

  std::optional<LogTime> held_until() const { return kept ? kept->held_until : std::nullopt; }

  friend bool operator==(const DevicePool&, const DevicePool&) = default;
};

/// The devices of a cluster as capacity.
struct DeviceCapacityPart {
  using FieldsInPlace = void;
  bool published = false;  ///< a slice has been observed
  /// The stream of slices. They are of the same source as the member's Nodes: where one of the two
  /// is stale, what the cluster has is not known.
  Liveness stream = Liveness::live;
  std::map<DevicePoolKey, DevicePool> pools;
  std::map<DeviceReason, std::set<DevicePoolKey>> faulty;  ///< the pools with faults, by reason
  std::map<std::string, std::string> unsupported;          ///< classes -> what is not understood
  std::set<std::pair<LogTime, DevicePoolKey>> holds;       ///< by DevicePool::held_until()

  // The open moment
  std::map<DevicePoolKey, std::vector<Seq>> dirty_pools;  ///< pools to count again, and why
  std::map<std::string, Seq> dirty_nodes;                 ///< nodes that changed
  std::optional<Seq> all_dirty;                           ///< every pool, because of this event
  bool devices_known_changed = false;  ///< condition DevicesKnown may have changed
  Memo<DeviceIndex> index;

  friend bool operator==(const DeviceCapacityPart&, const DeviceCapacityPart&) = default;
};

}  // namespace fairlead
