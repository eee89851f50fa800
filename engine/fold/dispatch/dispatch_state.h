// The part of State about dispatch by devices: what is reserved for Workloads, in which order they
// are placed, and what the search for devices knows of a cluster.
//
// Reading order: DeviceReservation, DeviceDispatch (of one Workload), DeviceSearch (of one
// cluster), Dispatch.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/devices/device_use.h"
#include "engine/devices/fit.h"
#include "engine/fold/devices/device_index.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/memo.h"
#include "engine/fold/observed.h"
#include "schema/event.h"

namespace fairlead {

/// Devices of one cluster that count as used for a Workload, until the claims of its pods there
/// take their place.
struct DeviceReservation {
  std::string worker;   ///< the MultiKueueCluster that is nominated
  std::string cluster;  ///< its cluster
  /// What is still reserved. A claim that a claim of the cluster replaced is left out, and so is a
  /// pod without any.
  std::vector<FitPod> pods;
  std::set<NamespacedName> replaced_by;  ///< claims of the cluster
  LogTime since;                         ///< of the nomination
  std::optional<LogTime> broken_since;   ///< a device cannot be taken there any more, and no other
  std::optional<LogTime> placed_since;   ///< status.clusterName was seen to be `worker`
  std::vector<Seq> because;              ///< the events of the moment that led to it

  friend bool operator==(const DeviceReservation&, const DeviceReservation&) = default;
};

/// What condition DevicesReserved says of a Workload.
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
  FleetWait fleet;             ///< of its fleet claims
  Memo<std::string> asks;      ///< equal for Workloads that ask alike; empty: not derived

  friend bool operator==(const DeviceDispatch&, const DeviceDispatch&) = default;
};

/// What the open moment changed of what the search looks at, in one cluster.
struct DeviceChanges {
  bool heard = false;  ///< of one of the kinds that the search looks at
  bool all = false;    ///< what any device, node or claim may depend on
  std::set<DevicePoolKey> pools;
  std::set<std::string> slices;
  std::set<std::string> nodes;
  std::set<std::string> classes;
  std::set<std::string> rules;
  std::set<NamespacedName> claims;
  std::set<NamespacedName> pods;
  std::vector<Seq> because;

  friend bool operator==(const DeviceChanges&, const DeviceChanges&) = default;
};

struct SearchIndex;

/// What the search for devices knows of a cluster. The index follows `changes` when the moment
/// closes.
struct DeviceSearch {
  using PartOfCluster = void;
  bool slices_listed = false;  ///< the list of its slices was complete once
  /// What each allocated claim uses, with its cost when it was first seen.
  std::map<NamespacedName, std::vector<DeviceUse>> pins;
  std::set<NamespacedName> unpinned;  ///< allocated claims, while the slices are not listed
  std::optional<LogTime> unreachable_since;
  DeviceChanges changes;
  Memo<std::shared_ptr<SearchIndex>> index;  ///< null until it is asked for

  friend bool operator==(const DeviceSearch&, const DeviceSearch&) = default;
};

/// The part of State about all of them.
struct Dispatch {
  std::map<std::string, std::set<NamespacedName>> reserved_on;  ///< Workloads, by cluster
  std::map<std::string, std::set<NamespacedName>> spent_on;     ///< Workloads, by cluster
  std::map<std::string, std::set<DispatchOrder>> waiting;       ///< by placement
  std::set<std::pair<LogTime, NamespacedName>> due;             ///< when one is judged again

  // The open moment
  bool all_open = false;                    ///< the configuration or a flavor changed
  std::set<std::string> open_clusters;      ///< with changes, another liveness, or freed devices
  std::set<NamespacedName> open_workloads;  ///< that use devices, or did

  friend bool operator==(const Dispatch&, const Dispatch&) = default;
};

}  // namespace fairlead
