#include "engine/fold/dispatch/counts.h"

#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/dispatch/refusals.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/pool/lookup.h"
#include "engine/fold/pool/pool_state.h"

namespace fairlead {

namespace {

const char* state_of(const Device& device) {
  if (device.uses && !device.uses->used.empty()) return "used";
  if (device.uses && !device.uses->reserved.empty()) return "reserved";
  return device.tainted ? "tainted" : "free";
}

void count_devices(SearchIndex& index, DispatchCounts& counts) {
  for (const auto& [key, pool] : index.devices.pools()) {
    for (const Device& device : pool.devices)
      if (pool.complete()) ++counts.devices[state_of(device)];
    if (pool.complete()) continue;
    for (const PublishedSlice* slice : pool.slices)
      if (slice->counts) counts.devices["incomplete"] += slice->facts->devices.size();
  }
}

}  // namespace

DispatchCounts count_dispatch(DispatchReader state) {
  DispatchCounts counts;
  if (!searches_devices(state.configuration)) return counts;
  for (const char* each : {"incomplete", "used", "reserved", "tainted", "free"})
    counts.devices[each] = 0;
  for (const auto& [name, cluster] : state.clusters) {
    if (!*cluster.search.index) continue;
    count_devices(**cluster.search.index, counts);
    counts.steps += static_cast<std::uint64_t>((*cluster.search.index)->steps);
  }
  for (const auto& [id, record] : state.multikueue.workloads) {
    const ConditionWish condition = devices_condition(record.devices());
    if (!condition.reason.empty()) ++counts.decisions[condition.reason];
    if (!record.devices().reservation) continue;
    ++counts.reservations;
    if (record.devices().reservation->broken_since) ++counts.broken;
  }
  for (const auto& [cluster, pods] : state.pool.reserved_on)
    for (const PoolPodKey& key : pods) {
      ++counts.reservations;
      if (find_pod(state.pool, key)->reserved->broken_since) ++counts.broken;
    }
  return counts;
}

}  // namespace fairlead
