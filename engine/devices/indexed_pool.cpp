#include "engine/devices/indexed_pool.h"

#include <algorithm>

#include "engine/devices/capacity_policy.h"

namespace fairlead {

namespace {

// A device that several claims share costs once. Each use has pinned what it saw, which a driver
// may have changed in between: the greatest is what no order of the uses makes too small.
std::vector<CounterSet> cost_of(const DeviceUses& uses, const DeviceFacts* published) {
  std::vector<CounterSet> cost;
  if (uses.used.empty()) {
    if (published && published->extras) cost = published->extras->consumes;
    return cost;
  }
  std::map<std::string, Counters> greatest;
  for (const DeviceUse* use : uses.used)
    for (const CounterSet& set : use->counters)
      for (const auto& [counter, value] : set.counters) {
        Quantity& most = greatest[set.name].try_emplace(counter, value).first->second;
        most = std::max(most, value);
      }
  for (auto& [name, counters] : greatest) cost.push_back({name, std::move(counters)});
  return cost;
}

}  // namespace

void DeviceUses::sum_up() {
  whole = 0;
  consumed.clear();
  for (const auto* uses : {&used, &reserved})
    for (const DeviceUse* use : *uses) {
      if (!use->share) ++whole;
      for (const auto& [name, value] : use->consumed) {
        Quantity& sum = consumed[name];
        sum = {saturating_sum(sum.nano(), value.nano()), value.format()};
      }
    }
}

void PoolCounters::reset(const PoolView& view) {
  left_.clear();
  for (const NamedSlice& slice : view.slices)
    for (const CounterSet& set : slice.facts->counters)
      for (const auto& [counter, value] : set.counters) left_[set.name][counter] = value.nano();
}

const Int128* PoolCounters::left(std::string_view set, std::string_view counter) const {
  const auto counters = left_.find(set);
  if (counters == left_.end()) return nullptr;
  const auto value = counters->second.find(counter);
  return value == counters->second.end() ? nullptr : &value->second;
}

Int128* PoolCounters::find(std::string_view set, std::string_view counter) {
  return const_cast<Int128*>(left(set, counter));
}

bool PoolCounters::fit(const DeviceFacts& device) const {
  if (!device.extras) return true;
  for (const CounterSet& set : device.extras->consumes)
    for (const auto& [counter, value] : set.counters) {
      const Int128* rest = left(set.name, counter);
      if (!rest || *rest < value.nano()) return false;
    }
  return true;
}

void PoolCounters::charge(const std::vector<CounterSet>& consumes) {
  for (const CounterSet& set : consumes)
    for (const auto& [counter, value] : set.counters)
      if (Int128* rest = find(set.name, counter))
        *rest = saturating_difference(*rest, value.nano());
}

void PoolCounters::give_back(const std::vector<CounterSet>& consumes) {
  for (const CounterSet& set : consumes)
    for (const auto& [counter, value] : set.counters)
      if (Int128* rest = find(set.name, counter)) *rest = saturating_sum(*rest, value.nano());
}

Device* IndexedPool::find(std::string_view device) {
  const auto at = std::lower_bound(by_name.begin(), by_name.end(), device,
                                   [&](std::uint32_t one, std::string_view wanted) {
                                     return devices[one].facts().name < wanted;
                                   });
  if (at == by_name.end() || devices[*at].facts().name != device) return nullptr;
  return &devices[*at];
}

namespace {

Device as_published(PublishedSlice& slice, std::size_t index,
                    const std::vector<const DeviceTaintRuleFacts*>& rules) {
  const DeviceFacts& facts = slice.facts->devices[index];
  Device device;
  device.slice = &slice;
  device.index = static_cast<std::uint16_t>(index);
  device.tainted = !rules.empty() && !taints_of(*slice.facts, facts, rules).empty();
  if (!facts.extras) return device;
  device.shared = facts.extras->shared;
  device.binds = facts.extras->binds;
  device.counted = !facts.extras->consumes.empty();
  device.tainted = device.tainted || !facts.extras->taints.empty();
  return device;
}

}  // namespace

void IndexedPool::rebuild(const std::vector<const DeviceTaintRuleFacts*>& rules) {
  std::vector<NamedSlice> named;
  named.reserve(slices.size());
  for (auto& [slice_name, slice] : slices) {
    named.push_back({slice_name, slice.facts});
    slice.counts = false;
  }
  view = named.empty() ? PoolView{} : judge_pool(named);
  devices.clear();
  has_counters = false;
  for (const NamedSlice& one : view.slices) {
    PublishedSlice& slice = slices.find(one.name)->second;
    slice.counts = true;
    slice.first = static_cast<std::uint32_t>(devices.size());
    has_counters = has_counters || !one.facts->counters.empty();
    for (std::size_t i = 0; i < one.facts->devices.size(); ++i) {
      devices.push_back(as_published(slice, i, rules));
      const auto use = uses.find(devices.back().facts().name);
      if (use != uses.end()) devices.back().uses = &use->second;
    }
  }
  by_name.resize(devices.size());
  for (std::uint32_t i = 0; i < by_name.size(); ++i) by_name[i] = i;
  std::sort(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int order = devices[a].facts().name.compare(devices[b].facts().name);
    return order != 0 ? order < 0 : a < b;
  });
  counters_known = false;
  tallies.clear();
  ++version;
  stale = false;
}

void IndexedPool::link_uses(const std::string& device) {
  const auto at = uses.find(device);
  const bool none = at == uses.end() || at->second.empty();
  if (at != uses.end() && none) uses.erase(at);
  if (!none) at->second.sum_up();
  counters_known = false;
  tallies.clear();
  ++version;
  if (stale) return;
  if (Device* published = find(device)) published->uses = none ? nullptr : &at->second;
}

PoolCounters& IndexedPool::counters_left() {
  if (counters_known) return counters;
  counters.reset(view);
  for (const auto& [device, by] : uses) {
    const Device* published = find(device);
    counters.charge(cost_of(by, published ? &published->facts() : nullptr));
  }
  counters_known = true;
  return counters;
}

}  // namespace fairlead
