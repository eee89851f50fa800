#include "engine/fold/devices/device_uses.h"

#include <utility>

namespace fairlead {

bool is_used(const Cluster& cluster, const DeviceId& device) {
  return cluster.device_capacity.index->used.contains(device);
}

void count_uses(DeviceIndex& index, const ResourceClaimFacts& claim, int sign,
                std::set<DeviceId>& changed) {
  if (!claim.allocation) return;
  for (const AllocatedDevice& each : claim.allocation->devices) {
    if (each.admin) continue;
    DeviceId id{each.driver, each.pool, each.device};
    const auto at = index.used.try_emplace(id).first;
    const bool was = at->second > 0;
    at->second += sign;
    const bool is = at->second > 0;
    // is_used() asks whether there is an entry.
    if (!is) index.used.erase(at);
    if (was != is) changed.insert(std::move(id));
  }
}

}  // namespace fairlead
