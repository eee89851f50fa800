// The part of State about dispatch by devices: what is reserved for Workloads, in which order they
// are placed. What is reserved and searched in one cluster is devices/device_search_state.h.
//
// Reading order: DeviceDispatch (of one Workload), Dispatch.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/memo.h"
#include "engine/fold/observed.h"
#include "schema/event.h"

namespace fairlead {

/// The condition DevicesReserved of a Workload.
enum class DeviceVerdict : std::uint8_t {
  none,        ///< there is no such condition
  reserved,    ///< for the nominated cluster
  no_cluster,  ///< it fits nowhere
  bypassed,    ///< another writer set clusterName
  // Of fleet claims:
  unsupported,             ///< what names them cannot be read
  claim_not_found,         ///< it is missing, or being deleted
  claim_not_for_workload,  ///< the claim of that name was not made for it
  class_not_found,
  claim_not_allocated,  ///< an Immediate one
  claim_deallocating,
  conflicting_pins,     ///< no cluster where it fits is in reach of all of its claims
  waiting_for_drivers,  ///< they have not said yet where they can serve it, or not allocated
  no_suitable_cluster,  ///< each cluster cannot be served by one of the drivers
  claim_in_use,         ///< an exclusive one is reserved for another
  reserved_for_full,
};

/// The order in which Workloads are placed: the higher priority first, then the older one.
struct DispatchOrder {
  std::int64_t priority = 0;
  LogTime created;
  NamespacedName id;

  friend bool operator==(const DispatchOrder&, const DispatchOrder&) = default;
  friend bool operator<(const DispatchOrder& a, const DispatchOrder& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.created != b.created) return a.created < b.created;
    return a.id < b.id;
  }
};

/// Where a Workload waits to be placed, or to be placed anew.
struct DispatchTicket {
  std::string placement;  ///< whose list
  DispatchOrder order;

  friend bool operator==(const DispatchTicket&, const DispatchTicket&) = default;
};

/// The dispatch of one Workload that uses devices.
struct DeviceDispatch {
  DeviceVerdict verdict{};
  std::string about;    ///< of a verdict of fleet claims: what it is about
  bool waited = false;  ///< it was observed without a status.clusterName
  bool judged = false;  ///< once, by a list with clusters
  std::optional<DeviceReservation> reservation;
  std::map<std::string, std::string> spent;  ///< workers that let admitTimeout pass -> clusters
  std::optional<DispatchTicket> ticket;
  std::optional<LogTime> due;  ///< its entry in Dispatch::due
  FleetQuestion asked;         ///< of the drivers of its fleet claims
  Memo<std::string> asks;      ///< equal for Workloads that ask alike; empty: not derived

  friend bool operator==(const DeviceDispatch&, const DeviceDispatch&) = default;
};

/// The indexes over every Workload that uses devices.
struct Dispatch {
  std::map<std::string, std::set<NamespacedName>> reserved_on;  ///< Workloads, by cluster
  std::map<std::string, std::set<NamespacedName>> spent_on;     ///< Workloads, by cluster
  std::map<std::string, std::set<DispatchOrder>> waiting;       ///< by placement
  std::set<std::pair<LogTime, NamespacedName>> due;             ///< when one is placed again

  // The open moment
  std::set<std::string> dirty_clusters;      ///< with changes, another liveness, or freed devices
  std::set<NamespacedName> dirty_workloads;  ///< that use devices, or did

  friend bool operator==(const Dispatch&, const Dispatch&) = default;
};

}  // namespace fairlead
