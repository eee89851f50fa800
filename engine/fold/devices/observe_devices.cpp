#include "engine/fold/devices/observe_devices.h"

#include "engine/fold/capacity/dirty_clusters.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_capacity.h"
#include "engine/fold/devices/search_index.h"

namespace fairlead {

namespace {

// Stores or erases a record of a map.
template <class Map, class Facts>
void store(Map& map, const typename Map::key_type& id, const Facts* facts, Seq seq) {
  if (facts)
    map[id] = {*facts, seq};
  else
    map.erase(id);
}

// Devices of a slice mostly have equal capacities: State holds them once.
ResourceSliceFacts with_shared_capacities(ResourceSliceFacts facts) {
  for (std::size_t i = 1; i < facts.devices.size(); ++i)
    if (facts.devices[i].capacity == facts.devices[i - 1].capacity)
      facts.devices[i].capacity = facts.devices[i - 1].capacity;
  return facts;
}

}  // namespace

void observe_slice(DeviceRoom state, const std::string& cluster, const std::string& name,
                   const ResourceSliceFacts* facts, Seq seq) {
  Cluster& of = mark_capacity_dirty(state, cluster);
  SliceRecord* const known = of.devices.slices.find(name);
  if (!known && !facts) return;
  note_slice(of, name, known, facts, seq);
  if (DeviceChanges* changes = note_change(state, cluster, of, seq)) {
    changes->slices.insert(name);
    for (const ResourceSliceFacts* each : {known ? &*known->facts : nullptr, facts})
      if (each) changes->pools.insert({each->driver, each->pool});
  }
  if (!facts) {
    of.devices.slices.erase(name);
    return;
  }
  SliceRecord& record = known ? *known : of.devices.slices[name];
  record = {with_shared_capacities(*facts), seq};
  note_stored_slice(of, name);
}

void observe_device_class(DeviceRoom state, const std::string& cluster, const std::string& name,
                          const DeviceClassFacts* facts, Seq seq) {
  Cluster& of = mark_capacity_dirty(state, cluster);
  note_class(of, seq);
  if (DeviceChanges* changes = note_change(state, cluster, of, seq)) changes->classes.insert(name);
  store(of.devices.classes, name, facts, seq);
}

void observe_taint_rule(DeviceRoom state, const std::string& cluster, const std::string& name,
                        const DeviceTaintRuleFacts* facts, Seq seq) {
  Cluster& of = mark_capacity_dirty(state, cluster);
  note_rule(of, facts_in(of.devices.rules, name), facts, seq);
  if (DeviceChanges* changes = note_change(state, cluster, of, seq)) {
    changes->rules.insert(name);
    changes->all = true;
  }
  store(of.devices.rules, name, facts, seq);
}

void observe_resource_claim(DeviceRoom state, const std::string& cluster, const NamespacedName& id,
                            const ResourceClaimFacts* facts, Seq seq) {
  Cluster& of = mark_capacity_dirty(state, cluster);
  const ResourceClaimFacts* const known = facts_in(of.devices.claims, id);
  note_claim(of, known, facts, seq);
  if (DeviceChanges* changes = note_change(state, cluster, of, seq)) {
    changes->claims.insert(id);
    for (const ResourceClaimFacts* each : {known, facts})
      if (each && each->allocation)
        for (const AllocatedDevice& device : each->allocation->devices)
          changes->pools.insert({device.driver, device.pool});
    // A pin has the cost at which a device was taken; only another allocation takes devices anew.
    if (!known || !facts || known->allocation != facts->allocation) of.search.pins.erase(id);
  }
  store(of.devices.claims, id, facts, seq);
}

void observe_claim_template(DeviceRoom state, const std::string& cluster, const NamespacedName& id,
                            const ResourceClaimTemplateFacts* facts, Seq seq) {
  Cluster& of = mark_capacity_dirty(state, cluster);
  if (DeviceChanges* changes = note_change(state, cluster, of, seq)) changes->all = true;
  store(of.devices.templates, id, facts, seq);
}

void observe_member_pod(DeviceRoom state, const std::string& cluster, const NamespacedName& id,
                        const Seen<PodFacts>& seen, Seq seq) {
  Cluster& cluster_of = mark_capacity_dirty(state, cluster);
  DeviceObjects& of = cluster_of.devices;
  if (DeviceChanges* changes = note_change(state, cluster, cluster_of, seq))
    changes->pods.insert(id);
  const PodOrigin origin = seen ? seen->facts.origin() : PodOrigin{};
  if (!origin.workload.empty() || !origin.tenant_uid.empty())
    of.pods[id] = {seen->uid, origin, seen->seq};
  else
    of.pods.erase(id);
}

}  // namespace fairlead
