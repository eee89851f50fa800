#include "engine/devices/indexed_pool.h"

#include <algorithm>
#include <tuple>

#include "engine/devices/capacity_policy.h"

namespace fairlead {

namespace {

// A pool with more devices has an index of their names.
constexpr std::size_t kFewDevices = 64;

// A device that several claims share costs once. Each use has pinned what it saw, which a driver
// may have changed in between: the greatest value of each counter counts, whatever the order of the
// uses.
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

void PoolCounters::add(const ResourceSliceFacts& slice) {
  for (const CounterSet& set : slice.counters)
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
      // A use has pinned the cost that it saw: the slices may have lost the counter since, or
      // publish less of it than is used, so what is left may be negative.
      if (Int128* rest = find(set.name, counter))
        *rest = saturating_difference(*rest, value.nano());
}

void PoolCounters::give_back(const std::vector<CounterSet>& consumes) {
  for (const CounterSet& set : consumes)
    for (const auto& [counter, value] : set.counters)
      if (Int128* rest = find(set.name, counter)) *rest = saturating_sum(*rest, value.nano());
}

Device* IndexedPool::find(std::string_view device) {
  const auto named = [&](const Device& one) { return one.facts().name == device; };
  if (by_name.empty()) {
    const auto at = std::find_if(devices.begin(), devices.end(), named);
    return at == devices.end() ? nullptr : &*at;
  }
  const auto before = [&](std::uint32_t one, std::string_view wanted) {
    return devices[one].facts().name < wanted;
  };
  const auto at = std::lower_bound(by_name.begin(), by_name.end(), device, before);
  return at == by_name.end() || !named(devices[*at]) ? nullptr : &devices[*at];
}

namespace {

Device as_published(PublishedSlice& slice, std::size_t index,
                    const std::vector<const DeviceTaintRuleFacts*>& rules) {
  const DeviceFacts& facts = slice.facts->devices[index];
  Device device;
  device.slice = &slice;
  // The API allows 128 devices in a slice, and a projection refuses more.
  device.index = static_cast<std::uint16_t>(index);
  device.tainted = !rules.empty() && !taints_of(*slice.facts, facts, rules).empty();
  if (!facts.extras) return device;
  device.shared = facts.extras->shared;
  device.binds = facts.extras->binds;
  device.counted = !facts.extras->consumes.empty();
  device.tainted = device.tainted || !facts.extras->taints.empty();
  return device;
}

// Whether the slices have devices for more than one node, which then share the pool's counters.
bool spans_nodes(const std::vector<PublishedSlice*>& slices) {
  const std::string* node = nullptr;
  for (const PublishedSlice* slice : slices) {
    if (!slice->counts || slice->facts->devices.empty()) continue;
    const NodeReach& reach = slice->facts->reach;
    if (reach.kind != NodeReachKind::node || (node && *node != reach.node)) return true;
    node = &reach.node;
  }
  return false;
}

}  // namespace

void IndexedPool::rebuild(const std::vector<const DeviceTaintRuleFacts*>& rules) {
  std::vector<NamedSlice> named;
  named.reserve(slices.size());
  for (PublishedSlice* slice : slices) {
    named.push_back({slice->name(), slice->facts});
    slice->counts = false;
  }
  const PoolView view = named.empty() ? PoolView{} : view_of_pool(named);
  status = view.status;
  devices.clear();
  has_counters = false;
  auto counting = view.slices.begin();
  for (PublishedSlice* slice : slices) {
    // The view's slices are some of these in the same order, so one walk finds them.
    if (counting == view.slices.end() || counting->facts != slice->facts) continue;
    ++counting;
    slice->counts = true;
    slice->first = static_cast<std::uint32_t>(devices.size());
    has_counters = has_counters || !slice->facts->counters.empty();
    devices.reserve(devices.size() + slice->facts->devices.size());
    for (std::size_t i = 0; i < slice->facts->devices.size(); ++i) {
      devices.push_back(as_published(*slice, i, rules));
      const auto use = uses.find(devices.back().facts().name);
      // Addresses in a map stay, whatever else comes into use.
      if (use != uses.end()) devices.back().uses = &use->second;
    }
  }
  sort_names();
  is_wide = spans_nodes(slices);
  counters.reset();
  tallies.clear();
  ++version;
  stale = false;
}

void IndexedPool::sort_names() {
  by_name.clear();
  if (devices.size() <= kFewDevices) return;
  by_name.resize(devices.size());
  for (std::uint32_t i = 0; i < by_name.size(); ++i) by_name[i] = i;
  // Of two devices with one name, which only an invalid pool has, the first counts.
  std::sort(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::string &name_a = devices[a].facts().name, &name_b = devices[b].facts().name;
    return std::tie(name_a, a) < std::tie(name_b, b);
  });
}

void IndexedPool::link_uses(const std::string& device) {
  const auto at = uses.find(device);
  const bool none = at == uses.end() || at->second.empty();
  if (!none) at->second.sum_up();
  counters.reset();
  tallies.clear();
  ++version;
  // Devices of a stale pool refer to facts that may be gone; rebuild() will link them.
  if (!stale)
    if (Device* published = find(device)) published->uses = none ? nullptr : &at->second;
  // Last: the device pointed to it until here.
  if (at != uses.end() && none) uses.erase(at);
}

PoolCounters& IndexedPool::counters_left() {
  if (counters) return *counters;
  counters = std::make_unique<PoolCounters>();
  for (const PublishedSlice* slice : slices)
    if (slice->counts) counters->add(*slice->facts);
  for (const auto& [device, by] : uses) {
    const Device* published = by.used.empty() ? find(device) : nullptr;
    counters->charge(cost_of(by, published ? &published->facts() : nullptr));
  }
  return *counters;
}

}  // namespace fairlead
