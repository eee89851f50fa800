// The part of State about the search for devices in one cluster: what changed there in the open
// moment, what allocated claims cost, and what is reserved beside them.
//
// Workloads and tenants' pods reserve devices in the same index, so that no device is promised to
// two of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/devices/device_use.h"
#include "engine/devices/fit.h"
#include "engine/fold/devices/device_index.h"
#include "engine/fold/memo.h"
#include "engine/fold/observed.h"
#include "schema/event.h"

namespace fairlead {

/// Devices of one cluster that count as used for a Workload or a tenant's pod, until the claims of
/// its pods there take their place.
struct DeviceReservation {
  std::string worker;   ///< the MultiKueueCluster that is nominated; the id of the super cluster
  std::string cluster;  ///< its cluster
  /// What is still reserved. A claim that a claim of the cluster replaced is left out, and so is a
  /// pod without any.
  std::vector<FitPod> pods;
  std::set<NamespacedName> replaced_by;  ///< claims of the cluster; of a Workload
  LogTime since;                         ///< of the nomination, or of the pod's decision
  std::optional<LogTime> broken_since;   ///< a device cannot be taken there any more, and no other
  std::optional<LogTime> placed_since;   ///< status.clusterName was seen to be `worker`
  std::vector<Seq> causes;               ///< the events of the moment that led to it

  friend bool operator==(const DeviceReservation&, const DeviceReservation&) = default;
};

/// What the open moment changed, in one cluster, of what the search looks at.
struct DeviceChanges {
  bool heard = false;   ///< of one of the kinds that the search looks at
  bool all = false;     ///< what any device, node or claim may depend on
  bool turned = false;  ///< is_reachable() is another than at the last close
  std::set<DevicePoolKey> pools;
  std::set<std::string> slices;
  std::set<std::string> nodes;
  std::set<std::string> classes;
  std::set<std::string> rules;
  std::set<NamespacedName> claims;
  std::set<NamespacedName> pods;
  std::vector<Seq> causes;

  friend bool operator==(const DeviceChanges&, const DeviceChanges&) = default;
};

struct SearchIndex;

/// What the search for devices knows of a cluster. The index follows `changes` when the moment
/// closes.
struct DeviceSearch {
  using FieldsInPlace = void;
  bool slices_listed = false;  ///< the list of its slices was complete once
  /// What each allocated claim uses, with its cost when it was first seen.
  std::map<NamespacedName, std::vector<DeviceUse>> pins;
  std::set<NamespacedName> unpinned;  ///< allocated claims, while the slices are not listed
  std::optional<LogTime> unreachable_since;
  DeviceChanges changes;
  Memo<std::shared_ptr<SearchIndex>> index;  ///< null until it is asked for

  friend bool operator==(const DeviceSearch&, const DeviceSearch&) = default;
};

/// The DeviceSearch of which clusters the close of the open moment looks at.
struct DeviceSearches {
  bool on = false;                       ///< something searched at the last close
  bool all_dirty = false;                ///< the configuration or a flavor changed
  std::set<std::string> dirty_clusters;  ///< clusters with changes or another liveness

  friend bool operator==(const DeviceSearches&, const DeviceSearches&) = default;
};

}  // namespace fairlead
