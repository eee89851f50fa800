#include "engine/fold/devices/device_capacity.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/devices/device_resources.h"
#include "engine/fold/devices/device_stand.h"
#include "engine/fold/devices/device_uses.h"
#include "engine/fold/devices/pool_offer.h"

namespace fairlead {

namespace {

DevicePoolKey pool_of(const ResourceSliceFacts& slice) { return {slice.driver, slice.pool}; }

std::vector<Seq>& open_pool(DeviceCapacityPart& part, const DevicePoolKey& key, Seq seq) {
  std::vector<Seq>& causes = part.open[key];
  remember(causes, seq);
  return causes;
}

// Derives the index from the cluster's objects, and marks every pool: what depends on what is
// noted while they are counted.
void derive_index(Cluster& cluster) {
  DeviceCapacityPart& part = cluster.device_capacity;
  DeviceIndex& index = *part.index;
  index = {};
  for (const auto* entry : std::as_const(cluster.devices.slices).sorted())
    index.slices[pool_of(*entry->second.facts)].emplace(entry->first, &entry->second);
  std::set<DevicePoolKey> pools;
  for (const auto& [id, record] : cluster.devices.claims) count_uses(index, record.facts, 1, pools);
  index.derived = true;
  for (const auto& [key, pool] : part.pools) part.open[key];
  for (const auto& [key, slices] : index.slices) part.open[key];
}

void derive_rules(Cluster& cluster) {
  std::vector<const DeviceTaintRuleFacts*>& rules = cluster.device_capacity.index->rules;
  rules.clear();
  for (const auto& [name, record] : cluster.devices.rules) rules.push_back(&record.facts);
}

// The slices of a pool as they are now. Empty if there is none.
PoolView view_of(const DeviceIndex& index, const DevicePoolKey& key) {
  const auto at = index.slices.find(key);
  if (at == index.slices.end()) return {PoolStatus::incomplete, "", {}};
  std::vector<NamedSlice> slices;
  slices.reserve(at->second.size());
  for (const auto& [name, record] : at->second) slices.push_back({name, &*record->facts});
  return judge_pool(slices);
}

// Keeps the slices of a complete pool before the first change of a moment.
void keep_view(DeviceCapacityPart& part, const DevicePoolKey& key) {
  const auto pool = part.pools.find(key);
  if (pool == part.pools.end() || pool->second.status != PoolStatus::complete ||
      !pool->second.kept.empty())
    return;
  const PoolView view = view_of(*part.index, key);
  const auto& records = part.index->slices.at(key);
  for (const NamedSlice& slice : view.slices) {
    const SliceRecord& record = *records.at(std::string(slice.name));
    pool->second.kept.push_back({std::string(slice.name), record.facts, record.seq});
  }
}

// What the counting of one cluster's pools shares.
class DeviceCount {
 public:
  DeviceCount(const State& state, Cluster& cluster)
      : state_(state), cluster_(cluster), part_(cluster.device_capacity) {}

  void run() {
    const auto unsupported = part_.unsupported;
    prepare();
    part_.told |= unsupported != part_.unsupported;
    while (!part_.open.empty()) {
      auto open = part_.open.extract(part_.open.begin());
      std::sort(open.mapped().begin(), open.mapped().end());
      count_pool(open.key(), open.mapped());
    }
  }

 private:
  // Makes the marks of the moment marks of pools. What led to a change must not depend on what the
  // index happens to know, which may just have been derived: so a pool that reaches nodes widely
  // has every node of the moment among its causes.
  void prepare() {
    DeviceIndex& index = *part_.index;
    if (!index.derived) derive_index(cluster_);
    if (part_.all_open) {
      index.tallies.clear();
      index.tallied.clear();
      index.pools_of_node.clear();
      index.reach_of_pool.clear();
      for (const auto& [key, slices] : index.slices) open_pool(part_, key, *part_.all_open);
      part_.open_nodes.clear();
      part_.all_open.reset();
    }
    if (!index.named) name_resources(state_, cluster_);
    if (index.rules.size() != cluster_.devices.rules.size()) derive_rules(cluster_);
    for (const auto& [key, causes] : part_.open) note_reach(state_, cluster_, key);
    for (const auto& [node, seq] : part_.open_nodes) {
      std::set<DevicePoolKey> pools;
      tally_node(state_, cluster_, node, pools);
      for (const DevicePoolKey& key : pools) open_pool(part_, key, seq);
    }
    for (auto& [key, causes] : part_.open)
      if (reaches_widely(index, key))
        for (const auto& [node, seq] : part_.open_nodes) remember(causes, seq);
    part_.open_nodes.clear();
    while (!part_.holds.empty() && part_.holds.begin()->first <= state_.now)
      end_hold(DevicePoolKey(part_.holds.begin()->second));  // a copy: the entry is erased
  }

  void end_hold(const DevicePoolKey& key) {
    DevicePool& pool = part_.pools.at(key);
    part_.holds.erase({*pool.held_until, key});
    pool.held_until.reset();
    pool.kept.clear();
    open_pool(part_, key, state_.seq);
  }

  void count_pool(const DevicePoolKey& key, const std::vector<Seq>& causes) {
    DevicePool& pool = part_.pools[key];
    const PoolView view = view_of(*part_.index, key);
    judge(key, pool, view);
    PoolOffer offer;
    if (state_.configuration.dra.quota) {
      if (view.status == PoolStatus::complete)
        offer = offer_of(state_, cluster_, key, view.slices);
      else if (pool.held_until)
        offer = offer_of(state_, cluster_, key, slices_of(pool.kept));
      else if (!view.slices.empty())
        offer
            .faults[view.status == PoolStatus::invalid ? DeviceReason::pool_invalid
                                                       : DeviceReason::pool_updating]
            .push_back("pool " + key.driver + "/" + key.pool + ": " + view.why);
    }
    move_sums(pool.sums, offer.sums, causes);
    pool.sums = std::move(offer.sums);
    set_faults(key, pool, std::move(offer.faults));
    if (view.slices.empty()) part_.pools.erase(key);
    note_reach(state_, cluster_, key);  // of slices that are kept no more
  }

  // Begins, keeps or ends the hold of a pool that was complete.
  void judge(const DevicePoolKey& key, DevicePool& pool, const PoolView& view) {
    const bool was_complete = pool.status == PoolStatus::complete;
    pool.status = view.status;
    const Duration hold = state_.configuration.dra.pool_hold;
    if (view.status != PoolStatus::complete && !view.slices.empty()) {
      if (was_complete && hold.ns > 0 && !pool.kept.empty()) {
        pool.held_until = state_.now + hold;
        part_.holds.emplace(*pool.held_until, key);
      }
      if (!pool.held_until) pool.kept.clear();
      return;
    }
    if (pool.held_until) part_.holds.erase({*pool.held_until, key});
    pool.held_until.reset();
    pool.kept.clear();
  }

  static std::vector<NamedSlice> slices_of(const std::vector<KeptSlice>& kept) {
    std::vector<NamedSlice> slices;
    slices.reserve(kept.size());
    for (const KeptSlice& each : kept) slices.push_back({each.name, &*each.facts});
    return slices;
  }

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
    if (pool.faults == faults) return;
    part_.told = true;
    for (const auto& [reason, texts] : pool.faults) {
      const auto at = part_.faulty.find(reason);
      at->second.erase(key);
      if (at->second.empty()) part_.faulty.erase(at);
    }
    pool.faults = std::move(faults);
    for (const auto& [reason, texts] : pool.faults) part_.faulty[reason].insert(key);
  }

  const State& state_;
  Cluster& cluster_;
  DeviceCapacityPart& part_;
};

bool selects(const DeviceTaintRuleFacts& rule, const DevicePoolKey& pool) {
  return rule.selects && (!rule.driver || *rule.driver == pool.driver) &&
         (!rule.pool || *rule.pool == pool.pool);
}

constexpr std::array<std::string_view, kDeviceReasonCount> kReasonTexts{
    "PoolInvalid",   "PoolUpdating",    "SelectorUnsupported",
    "SelectorError", "FlavorAmbiguous", "DeviceOverlap"};

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

void note_slice(Cluster& cluster, const std::string& name, const SliceRecord* known,
                const ResourceSliceFacts* observed, Seq seq) {
  DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published && observed) part.published = part.told = true;
  cluster.observation.changed = true;
  for (const ResourceSliceFacts* facts : {known ? &*known->facts : nullptr, observed}) {
    if (!facts) continue;
    const DevicePoolKey key = pool_of(*facts);
    if (!part.index->derived) derive_index(cluster);
    keep_view(part, key);
    open_pool(part, key, seq);
  }
  if (!known) return;
  const auto at = part.index->slices.find(pool_of(*known->facts));
  at->second.erase(name);
  if (at->second.empty()) part.index->slices.erase(at);
}

void note_stored_slice(Cluster& cluster, const std::string& name, const SliceRecord& record) {
  cluster.device_capacity.index->slices[pool_of(*record.facts)].emplace(name, &record);
}

void note_class(Cluster& cluster, Seq seq) {
  cluster.observation.changed = true;
  cluster.device_capacity.index->named = false;
  cluster.device_capacity.all_open = seq;
}

void note_rule(Cluster& cluster, const DeviceTaintRuleFacts* known,
               const DeviceTaintRuleFacts* observed, Seq seq) {
  DeviceCapacityPart& part = cluster.device_capacity;
  cluster.observation.changed = true;
  part.index->rules.clear();
  for (const auto& [key, pool] : part.pools)
    for (const DeviceTaintRuleFacts* rule : {known, observed})
      if (rule && selects(*rule, key)) open_pool(part, key, seq);
}

void note_claim(Cluster& cluster, const ResourceClaimFacts* known,
                const ResourceClaimFacts* observed, Seq seq) {
  DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published) return;
  if (!part.index->derived) derive_index(cluster);
  std::set<DevicePoolKey> taken, freed, pools;
  if (known) count_uses(*part.index, *known, -1, freed);
  if (observed) count_uses(*part.index, *observed, 1, taken);
  std::set_symmetric_difference(freed.begin(), freed.end(), taken.begin(), taken.end(),
                                std::inserter(pools, pools.end()));
  for (const DevicePoolKey& key : pools)
    if (part.pools.contains(key)) {
      cluster.observation.changed = true;
      open_pool(part, key, seq);
    }
}

void note_node(Cluster& cluster, const std::string& node, Seq seq) {
  if (cluster.device_capacity.published) cluster.device_capacity.open_nodes[node] = seq;
}

void recount_devices(Cluster& cluster, Seq seq) {
  DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published) return;
  for (const auto& [key, pool] : part.pools)
    for (const auto& [at, sum] : pool.sums) {
      cluster.capacity[at].offered += sum.offered;
      cluster.capacity[at].growing += sum.growing;
    }
  part.index->named = false;
  part.all_open = seq;
}

void count_devices(const State& state, Cluster& cluster) {
  DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published) return;
  const bool due = !part.holds.empty() && part.holds.begin()->first <= state.now;
  const bool marked = !part.open.empty() || !part.open_nodes.empty() || part.all_open;
  if (part.index->derived && !marked && !due) return;
  DeviceCount(state, cluster).run();
}

LogTime next_device_deadline(const Cluster& cluster) {
  const auto& holds = cluster.device_capacity.holds;
  return holds.empty() ? kForever : holds.begin()->first;
}

std::optional<DevicesKnown> devices_known(const State& state, const Cluster& cluster) {
  const DeviceCapacityPart& part = cluster.device_capacity;
  if (!part.published || !state.configuration.dra.quota) return std::nullopt;
  for (std::size_t i = 0; i < kDeviceReasonCount; ++i) {
    const auto reason = static_cast<DeviceReason>(i);
    FaultText text;
    if (reason == DeviceReason::selector_unsupported)
      for (const auto& [name, what] : part.unsupported)
        text.add("class " + name + ": " + what + " is not supported");
    if (const auto at = part.faulty.find(reason); at != part.faulty.end())
      for (const DevicePoolKey& key : at->second)
        for (const std::string& fault : part.pools.at(key).faults.at(reason)) text.add(fault);
    if (text.count > 0) return DevicesKnown{false, kReasonTexts[i], std::move(text).finish()};
  }
  return DevicesKnown{true, "DevicesKnown", "every device of a complete pool is counted"};
}

}  // namespace fairlead
