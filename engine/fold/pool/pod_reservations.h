// Devices that are reserved for tenants' pods: from a pod's decision on, until claims of its super
// cluster take the place of that. Internal to the fold.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Calls `use` with the key and the pod of those of the namespace that have a reservation at the
/// member.
template <class Use>
void for_reserved(const Pool& pool, const PoolNamespaceKey& home, const std::string& member,
                  const Use& use) {
  const auto on = pool.reserved_on.find(member);
  if (on == pool.reserved_on.end()) return;
  for (auto at = on->second.lower_bound({home.first, home.second, ""});
       at != on->second.end() && namespace_of(*at) == home; ++at)
    use(*at, *find_pod(pool, *at));
}

/// Reserves the devices of a solution for the pod, in place of what it had.
void reserve_devices(State& state, const PoolPodKey& key, PoolPod& pod, const std::string& id,
                     std::vector<FitPod> pods);
/// Frees what is reserved for the pod, if anything is. Its cluster is looked at again.
void release_devices(State& state, const PoolPodKey& key, PoolPod& pod);

/// Folds what the open moment means for reservations: those that dra.placeTimeout ends, those that
/// claims of super clusters replace, and those of which a device or a node changed, which are
/// solved again. Called when the indices have followed the moment.
void recompute_pod_reservations(State& state);
/// Returns the namespaces with pods that wait and may use devices of the clusters in
/// Pool::dirty_devices, which it empties; marks these pods as worth a look. What got free mends
/// broken reservations first.
std::set<PoolNamespaceKey> mark_device_pods_dirty(State& state);

}  // namespace fairlead
