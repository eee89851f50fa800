// Devices that are reserved for tenants' pods: from the decision where a pod goes until claims of
// its super cluster replace the reservation. Internal to the fold.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Calls `use` with key and pod for each pod of the namespace that has a reservation at the member.
template <class Use>
void for_reserved(const Pool& pool, const PoolNamespaceKey& home, const std::string& member,
                  const Use& use) {
  const auto on = pool.reserved_on.find(member);
  if (on == pool.reserved_on.end()) return;
  for (auto at = on->second.lower_bound({home.first, home.second, ""});
       at != on->second.end() && namespace_of(*at) == home; ++at)
    use(*at, *find_pod(pool, *at));
}

/// Reserves the devices of a solution for the pod, in place of its former reservation.
void reserve_devices(PoolRoom state, const PoolPodKey& key, PoolPod& pod, const std::string& id,
                     std::vector<FitPod> pods);
/// Frees what is reserved for the pod, if anything is. Pods that wait for devices of that cluster
/// are looked at again.
void release_devices(PoolRoom state, const PoolPodKey& key, PoolPod& pod);

/// Folds what the open moment means for reservations. dra.placeTimeout ends some, claims of super
/// clusters replace some, and a reservation of which a device or a node changed is solved again.
/// Called when the indices have followed the moment.
void recompute_pod_reservations(PoolRoom state);
/// Empties Pool::dirty_devices. Returns the namespaces of the waiting pods that may use devices of
/// those clusters, and marks these pods as worth a look. What became free repairs broken
/// reservations first.
std::set<PoolNamespaceKey> mark_device_pods_dirty(PoolRoom state);

}  // namespace fairlead
