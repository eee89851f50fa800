// What the search for devices knows of one cluster: an index over facts that State holds, which
// follows them at the end of each moment. Claims, Workloads, tenants' pods and fleet claims all
// count in it: docs/decisions/0043-pods-and-workloads-reserve-in-one-index.md. Internal to the
// fold.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/devices/cluster_devices.h"
#include "engine/devices/fit.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

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
  std::map<NamespacedName, std::string> tenant_uids;  ///< of Pods: the uids of the tenants' Pods
  std::set<std::pair<std::string, NamespacedName>> pods_of_tenants;  ///< the same the other way
  /// By what was asked, while nothing of the cluster has changed.
  std::map<std::string, SearchAnswer> answers;
  std::int64_t steps = 0;  ///< devices tried for decisions, for metrics alone

  /// Replaces what is reserved for a Workload or a tenant's pod, and what a claim uses.
  void reserve(const NamespacedName& workload, const DeviceReservation& reservation);
  void release(const NamespacedName& workload);
  /// Replaces what a fleet claim has booked.
  void book(const NamespacedName& claim, const std::vector<FitDevice>& devices);
  void unbook(const NamespacedName& claim);
  void reserve(const PoolPodKey& pod, const DeviceReservation& reservation);
  void release(const PoolPodKey& pod);
  void set_uses(const NamespacedName& claim, std::vector<DeviceUse> uses);
};

/// Whether Workloads are dispatched, or tenants' pods placed, by devices under this configuration,
/// and whether anything searches for devices.
bool dispatches_by_devices(const Configuration& configuration);
bool places_by_devices(const Configuration& configuration);
bool searches_devices(const Configuration& configuration);

/// Returns where to note that an event changed what the search looks at in the cluster called
/// `name`; null if nothing searches.
DeviceChanges* note_change(SearchMarks state, const std::string& name, Cluster& cluster, Seq seq);
/// Notes that a stream of the cluster became live, stale or lost.
void note_stream(SearchMarks state, const std::string& name);

/// Returns the index of a cluster, which keeps it.
SearchIndex& search_index(SearchRoom state, const std::string& cluster);
/// Returns the index that the cluster keeps, or one for this question.
std::shared_ptr<SearchIndex> borrow_index(SearchReader state, const std::string& cluster);

/// Closes the open moment of the search: pins the uses of claims whose allocation was first seen in
/// it, and brings the indices of the changed clusters up to date. Workloads and pods that wait for
/// devices of these clusters are placed again.
void recompute_searches(SearchRoom state);
/// Forgets what the moment changed, when all that follows from it is decided.
void end_changes(StateView<Clusters, DeviceSearches> state);
/// Marks the Workloads and pods that wait for devices of the cluster: some got free, so they are
/// placed again in the open moment.
void note_freed(SearchRoom state, const std::string& cluster);
/// Does the same where these devices were reserved. Reservations in their pools are solved again,
/// too: a request for all devices may find one more.
void note_freed(SearchRoom state, const std::string& cluster, const std::vector<FitPod>& pods);
void note_freed(SearchRoom state, const std::string& cluster,
                const std::vector<FitDevice>& devices);
/// Marks only the reasons of the pods that wait: some devices were reserved.
void note_reserved(SearchRoom state, const std::string& cluster);

/// Returns what an allocated claim uses: as it is pinned, or by the slices as they are now.
std::vector<DeviceUse> known_uses(const Cluster& cluster, SearchIndex& index,
                                  const NamespacedName& claim);

/// Whether the cluster is watched: an event of it was observed.
bool is_watched(const Cluster& cluster);
/// Whether what is known of its nodes and devices is not stale or lost.
bool is_reachable(const Cluster& cluster);

}  // namespace fairlead
