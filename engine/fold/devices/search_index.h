// What the search for devices knows of one cluster: an index over facts that State holds, which
// follows them at the end of each moment. Internal to the fold.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/devices/cluster_devices.h"
#include "engine/devices/fit.h"
#include "engine/fold/state.h"

namespace fairlead {

/// An answer, with what a policy asks of it once it has been asked.
struct SearchAnswer {
  FitAnswer fit;
  std::optional<std::int64_t> free;  ///< free_devices_after
};

struct SearchIndex {
  ClusterDeviceIndex devices;
  std::map<std::string, std::set<NamespacedName>> claims_of_pod;  ///< by the Pod's uid
  std::map<NamespacedName, std::set<std::string>> pods_of_claim;  ///< the same the other way
  std::map<std::string, NamespacedName> pods;                     ///< by uid
  std::map<NamespacedName, std::string> uids;                     ///< of Pods
  /// By what was asked, while nothing of the cluster has changed.
  std::map<std::string, SearchAnswer> answers;
  std::int64_t steps = 0;  ///< devices tried for decisions, for metrics alone

  /// Replaces what is reserved for a Workload, and what a claim uses.
  void reserve(const NamespacedName& workload, const DeviceReservation& reservation);
  void release(const NamespacedName& workload);
  /// Replaces what a fleet claim has booked.
  void book(const NamespacedName& claim, const std::vector<FitDevice>& devices);
  void unbook(const NamespacedName& claim);
  void set_uses(const NamespacedName& claim, std::vector<DeviceUse> uses);
};

/// Whether anything searches for devices under this configuration.
bool searches_devices(const Configuration& configuration);

/// Returns where to note that an event changed what the search looks at in the cluster called
/// `name`; null if nothing searches.
DeviceChanges* note_change(State& state, const std::string& name, Cluster& cluster, Seq seq);
/// Notes that a stream of the cluster became live, stale or lost.
void note_stream(State& state, const std::string& name);

/// Returns the index of a cluster, which keeps it.
SearchIndex& search_index(State& state, const std::string& cluster);
/// Returns the index that the cluster keeps, or one for this question.
std::shared_ptr<SearchIndex> borrow_index(const State& state, const std::string& cluster);

/// Pins what allocated claims use that were first seen in the open moment, and updates the index by
/// what the moment changed.
void close_search(State& state, const std::string& cluster);
/// Drops all that is known for the search, because nothing searches any more.
void end_search(Cluster& cluster);

/// Returns what an allocated claim uses: as it is pinned, or by the slices as they are now.
std::vector<DeviceUse> known_uses(const Cluster& cluster, SearchIndex& index,
                                  const NamespacedName& claim);

/// Whether the cluster is watched: an event of it was observed.
bool is_watched(const Cluster& cluster);
/// Whether what is known of its nodes and devices is not stale or lost.
bool is_reachable(const Cluster& cluster);

}  // namespace fairlead
