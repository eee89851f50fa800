#include "engine/fold/devices/device_capacity.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/counted_flavor.h"
#include "engine/fold/devices/device_resources.h"
#include "engine/fold/devices/device_uses.h"
#include "engine/fold/devices/pool_offer.h"

namespace fairlead {

namespace {

DevicePoolKey pool_of(const ResourceSliceFacts& slice) { return {slice.driver, slice.pool}; }

std::vector<Seq>& mark_pool_dirty(DeviceCapacityPart& part, const DevicePoolKey& key, Seq seq) {
  std::vector<Seq>& causes = part.dirty_pools[key];
  remember(causes, seq);
  return causes;
}

void add_slice(DeviceCapacityPart& part, const NameTable<SliceRecord>::Entry& entry) {
  auto& slices = part.pools[pool_of(*entry.second.facts)].index->slices;
  const auto place =
      std::lower_bound(slices.begin(), slices.end(), entry.first,
                       [](const auto* each, const auto& name) { return each->first < name; });
  if (place == slices.end() || *place != &entry) slices.insert(place, &entry);
}

// Derives the index from the cluster's objects, and marks every pool: what depends on what is
// noted while they are counted.
void derive_index(Cluster& cluster) {
  DeviceCapacityPart& part = cluster.device_capacity;
  DeviceIndex& index = *part.index;
  index = {};
  for (auto& [key, pool] : part.pools) *pool.index = {};
  for (const auto* entry : std::as_const(cluster.devices.slices).sorted()) add_slice(part, *entry);
  std::set<DeviceId> used;  // every pool is marked
  for (const auto& [id, record] : cluster.devices.claims) count_uses(index, record.facts, 1, used);
  index.derived = true;
  for (const auto& [key, pool] : part.pools) part.dirty_pools[key];
}

void derive_rules(Cluster& cluster) {
  std::vector<const DeviceTaintRuleFacts*>& rules = cluster.device_capacity.index->rules;
  rules.clear();
  for (const auto& [name, record] : cluster.devices.rules) rules.push_back(&record.facts);
}

// The slices of a pool as they are now.
PoolView view_of(const DevicePool& pool) {
  if (pool.index->slices.empty()) return {PoolStatus::incomplete, "", {}};
  std::vector<NamedSlice> slices;
  slices.reserve(pool.index->slices.size());
  for (const auto* entry : pool.index->slices)
    slices.push_back({entry->first, &*entry->second.facts});
  return view_of_pool(slices);
}

// Keeps the slices of a complete pool before the first change of a moment.
void keep_view(DeviceCapacityPart& part, const DevicePoolKey& key) {
  const auto at = part.pools.find(key);
  if (at == part.pools.end() || at->second.status != PoolStatus::complete || at->second.kept)
    return;
  const PoolView view = view_of(at->second);
  std::vector<KeptSlice>& kept = at->second.kept.emplace().slices;
  for (const auto* entry : at->second.index->slices)  // by name, as the view is
    if (kept.size() < view.slices.size() && view.slices[kept.size()].name == entry->first)
      kept.push_back({entry->first, entry->second.facts, entry->second.seq});
}

// Returns `sums` for `pool`, shared with the pool before or after it in `pools` if that one has
// equal sums.
Shared<DeviceSums> share_sums(const std::map<DevicePoolKey, DevicePool>& pools,
                              std::map<DevicePoolKey, DevicePool>::const_iterator pool,
                              DeviceSums sums) {
  if (sums.empty()) return {};
  if (pool != pools.begin() && *std::prev(pool)->second.sums == sums)
    return std::prev(pool)->second.sums;
  if (std::next(pool) != pools.end() && *std::next(pool)->second.sums == sums)
    return std::next(pool)->second.sums;
  return sums;
}

// What the counting of one cluster's pools shares.
class DeviceCount {
 public:
  DeviceCount(CountReader state, Cluster& cluster)
      : state_(state), cluster_(cluster), part_(cluster.device_capacity) {}

  void run() {
    const auto unsupported = part_.unsupported;
    prepare();
    part_.devices_known_changed |= unsupported != part_.unsupported;
    while (!part_.dirty_pools.empty()) {
      auto dirty = part_.dirty_pools.extract(part_.dirty_pools.begin());
      // Marks come by node and by slice. Causes are remembered in the order of their events, of
      // which the newest are kept.
      std::sort(dirty.mapped().begin(), dirty.mapped().end());
      count_pool(dirty.key(), dirty.mapped());
    }
  }

 private:
  // Makes the marks of the moment marks of pools. What led to a change must not depend on what the
  // index happens to know, which may just have been derived: so a pool that reaches nodes widely
  // has every node of the moment among its causes.
  void prepare() {
    DeviceIndex& index = *part_.index;
    if (!index.derived) derive_index(cluster_);
    if (part_.all_dirty) {
      index.tallies.clear();
      index.tallied.clear();
      index.pools_of_node.clear();
      for (auto& [key, pool] : part_.pools) {
        pool.index->nodes.clear();
        pool.index->tallies.clear();
        if (!pool.index->slices.empty()) mark_pool_dirty(part_, key, *part_.all_dirty);
      }
      part_.dirty_nodes.clear();
      part_.all_dirty.reset();
    }
    if (!index.named) name_resources(state_, cluster_);
    if (index.rules.size() != cluster_.devices.rules.size()) derive_rules(cluster_);
    for (const auto& [key, causes] : part_.dirty_pools) note_reach(state_, cluster_, key);
    for (const auto& [node, seq] : part_.dirty_nodes) {
      std::set<DevicePoolKey> pools;
      tally_node(state_, cluster_, node, pools);
      for (const DevicePoolKey& key : pools) mark_pool_dirty(part_, key, seq);
    }
    for (auto& [key, causes] : part_.dirty_pools)
      if (reaches_widely(part_, key))
        for (const auto& [node, seq] : part_.dirty_nodes) remember(causes, seq);
    part_.dirty_nodes.clear();
    while (!part_.holds.empty() && part_.holds.begin()->first <= state_.now)
      end_hold(DevicePoolKey(part_.holds.begin()->second));  // a copy: the entry is erased
  }

  void end_hold(const DevicePoolKey& key) {
    drop_kept(key, part_.pools.at(key));
    mark_pool_dirty(part_, key, state_.seq);
  }

  void drop_kept(const DevicePoolKey& key, DevicePool& pool) {
    if (const auto until = pool.held_until()) part_.holds.erase({*until, key});
    pool.kept.reset();
  }

  void count_pool(const DevicePoolKey& key, const std::vector<Seq>& causes) {
    const auto at = part_.pools.try_emplace(key).first;
    DevicePool& pool = at->second;
    const PoolView view = view_of(pool);
    judge(key, pool, view);
    PoolOffer offer;
    if (state_.configuration.dra.quota) {
      if (view.status == PoolStatus::complete)
        offer = offer_of(state_, cluster_, key, view.slices);
      else if (pool.held_until())
        offer = offer_of(state_, cluster_, key, slices_of(pool.kept->slices));
      else if (!view.slices.empty())
        offer
            .faults[view.status == PoolStatus::invalid ? DeviceReason::pool_invalid
                                                       : DeviceReason::pool_updating]
            .push_back("pool " + key.driver + "/" + key.pool + ": " + view.why);
    }
    move_sums(*pool.sums, offer.sums, causes);
    pool.sums = share_sums(part_.pools, at, std::move(offer.sums));
    set_faults(key, pool, std::move(offer.faults));
    note_reach(state_, cluster_, key);  // of slices that are kept no more
    // Last: `pool` is a part of the entry, and note_reach() has taken its key out of the index.
    if (view.slices.empty()) part_.pools.erase(at);
  }

  // Begins, keeps or ends the hold of a pool that was complete.
  void judge(const DevicePoolKey& key, DevicePool& pool, const PoolView& view) {
    const bool was_complete = pool.status == PoolStatus::complete;
    pool.status = view.status;
    const Duration hold = state_.configuration.dra.pool_hold;
    if (view.status != PoolStatus::complete && !view.slices.empty()) {
      if (was_complete && hold.ns > 0 && pool.kept) {
        pool.kept->held_until = state_.now + hold;
        part_.holds.emplace(*pool.kept->held_until, key);
      }
      if (!pool.held_until()) pool.kept.reset();
      return;
    }
    drop_kept(key, pool);
  }

  static std::vector<NamedSlice> slices_of(const std::vector<KeptSlice>& kept) {
    std::vector<NamedSlice> slices;
    slices.reserve(kept.size());
    for (const KeptSlice& each : kept) slices.push_back({each.name, &*each.facts});
    return slices;
  }

  // What Cluster::capacity has of a pool is always *pool.sums: a count replaces it by the
  // difference, and recount_devices() puts it back after the cluster's sums were emptied. So pools
  // whose slices did not change cost nothing.
  void move_sums(const DeviceSums& from, const DeviceSums& to, const std::vector<Seq>& causes) {
    const auto move = [&](const CapacityKey& key, const DeviceSum& was, const DeviceSum& is) {
      if (was == is) return;
      CapacityValue& value = cluster_.capacity[key];
      value.offered += is.offered - was.offered;
      value.growing += is.growing - was.growing;
      for (const Seq cause : causes) remember_change(value, cause);
    };
    for (const auto& [key, is] : to) {
      const auto was = from.find(key);
      move(key, was == from.end() ? DeviceSum{} : was->second, is);
    }
    for (const auto& [key, was] : from)
      if (!to.contains(key)) move(key, was, {});
  }

  void set_faults(const DevicePoolKey& key, DevicePool& pool, DeviceFaults faults) {
    // The usual case: the status of the claim stays, so nothing has to be planned.
    if (pool.faults ? *pool.faults == faults : faults.empty()) return;
    part_.devices_known_changed = true;
    for (std::size_t i = 0; i < kDeviceReasonCount; ++i) {
      const auto reason = static_cast<DeviceReason>(i);
      if (faults.contains(reason)) {
        part_.faulty[reason].insert(key);
      } else if (const auto at = part_.faulty.find(reason); at != part_.faulty.end()) {
        at->second.erase(key);
        if (at->second.empty()) part_.faulty.erase(at);
      }
    }
    pool.faults.reset();
    if (!faults.empty()) pool.faults = std::move(faults);
  }

  CountReader state_;
  Cluster& cluster_;
  DeviceCapacityPart& part_;
};

bool selects(const DeviceTaintRuleFacts& rule, const DevicePoolKey& pool) {
  return (!rule.driver || *rule.driver == pool.driver) && (!rule.pool || *rule.pool == pool.pool);
}

constexpr std::array<std::string_view, kDeviceReasonCount> kReasonTexts{
    "PoolInvalid",     "PoolUpdating",  "SelectorUnsupported", "SelectorError",
    "FlavorAmbiguous", "DeviceOverlap", "CountersShared"};

// Joins what a message names: the first few, and how many more there are.
struct FaultText {
  static constexpr std::size_t kNamedMax = 8;
  std::string text;
  std::size_t count = 0;

  void add(const std::string& fault) {
    if (++count > kNamedMax) return;
    if (!text.empty()) text += "; ";
    text += fault;
  }
  std::string finish() && {
    if (count > kNamedMax) text += "; and " + std::to_string(count - kNamedMax) + " more";
    return std::move(text);
  }
};

}  // namespace

// The index of a pool points to the entries of the slices. The entry leaves it here, before the
// slice is stored or erased, and comes back with note_stored_slice(), when it has its address.
void note_slice(Cluster& cluster, const std::string& name, const SliceRecord* known,
                const ResourceSliceFacts* observed, Seq seq) {
  DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published && observed) part.published = part.devices_known_changed = true;
  cluster.observation.changed = true;
  for (const ResourceSliceFacts* facts : {known ? &*known->facts : nullptr, observed}) {
    if (!facts) continue;
    const DevicePoolKey key = pool_of(*facts);
    if (!part.index->derived) derive_index(cluster);
    keep_view(part, key);
    mark_pool_dirty(part, key, seq);
  }
  if (!known) return;
  // The pool of a known slice is there: only one without slices is erased.
  std::erase_if(part.pools.at(pool_of(*known->facts)).index->slices,
                [&](const auto* entry) { return entry->first == name; });
}

void note_stored_slice(Cluster& cluster, const std::string& name) {
  add_slice(cluster.device_capacity, cluster.devices.slices.entry(name));
}

void note_class(Cluster& cluster, Seq seq) {
  cluster.observation.changed = true;
  cluster.device_capacity.index->named = false;
  cluster.device_capacity.all_dirty = seq;
}

void note_rule(Cluster& cluster, const DeviceTaintRuleFacts* known,
               const DeviceTaintRuleFacts* observed, Seq seq) {
  DeviceCapacityPart& part = cluster.device_capacity;
  cluster.observation.changed = true;
  part.index->rules.clear();
  for (const auto& [key, pool] : part.pools)
    for (const DeviceTaintRuleFacts* rule : {known, observed})
      if (rule && selects(*rule, key)) mark_pool_dirty(part, key, seq);
}

void note_claim(Cluster& cluster, const ResourceClaimFacts* known,
                const ResourceClaimFacts* observed, Seq seq) {
  DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published) return;
  if (!part.index->derived) derive_index(cluster);
  std::set<DeviceId> taken, freed;
  std::vector<DeviceId> moved;
  if (known) count_uses(*part.index, *known, -1, freed);
  if (observed) count_uses(*part.index, *observed, 1, taken);
  // A device that the claim had before and has after changes nothing.
  std::set_symmetric_difference(freed.begin(), freed.end(), taken.begin(), taken.end(),
                                std::back_inserter(moved));
  for (const DeviceId& device : moved)
    if (const DevicePoolKey key{device.driver, device.pool}; part.pools.contains(key)) {
      cluster.observation.changed = true;
      mark_pool_dirty(part, key, seq);
    }
}

void note_node(Cluster& cluster, const std::string& node, Seq seq) {
  if (cluster.device_capacity.published) cluster.device_capacity.dirty_nodes[node] = seq;
}

void recount_devices(Cluster& cluster, Seq seq) {
  DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published) return;
  for (const auto& [key, pool] : part.pools)
    for (const auto& [at, sum] : *pool.sums) {
      // The cluster's sums were emptied; every pool is counted again by the difference to these
      // (move_sums).
      cluster.capacity[at].offered += sum.offered;
      cluster.capacity[at].growing += sum.growing;
    }
  part.index->named = false;
  part.all_dirty = seq;
}

void count_devices(CountReader state, Cluster& cluster) {
  DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published) return;
  const bool due = !part.holds.empty() && part.holds.begin()->first <= state.now;
  const bool marked = !part.dirty_pools.empty() || !part.dirty_nodes.empty() || part.all_dirty;
  if (part.index->derived && !marked && !due) return;
  DeviceCount(state, cluster).run();
}

LogTime next_device_deadline(const Cluster& cluster) {
  const auto& holds = cluster.device_capacity.holds;
  return holds.empty() ? kForever : holds.begin()->first;
}

std::optional<DevicesKnown> devices_known(const Configuration& configuration,
                                          const Cluster& cluster) {
  const DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published || !configuration.dra.quota) return std::nullopt;
  for (std::size_t i = 0; i < kDeviceReasonCount; ++i) {
    const auto reason = static_cast<DeviceReason>(i);
    FaultText text;
    if (reason == DeviceReason::selector_unsupported)
      for (const auto& [name, what] : part.unsupported)
        text.add("class " + name + ": " + what + " is not supported");
    if (const auto at = part.faulty.find(reason); at != part.faulty.end())
      for (const DevicePoolKey& key : at->second)
        for (const std::string& fault : part.pools.at(key).faults->at(reason)) text.add(fault);
    if (text.count > 0) return DevicesKnown{false, kReasonTexts[i], std::move(text).finish()};
  }
  return DevicesKnown{true, "DevicesKnown", "every device of a complete pool is counted"};
}

}  // namespace fairlead
