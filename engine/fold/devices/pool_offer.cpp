#include "engine/fold/devices/pool_offer.h"

#include <algorithm>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/devices/indexed_pool.h"
#include "engine/devices/node_reach.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/counted_flavor.h"
#include "engine/fold/devices/device_uses.h"

namespace fairlead {

namespace {

constexpr Int128 kNano = 1'000'000'000;

// Whole units: cpu in milli, as Amount is.
Int128 whole_units(const std::string& resource, const Quantity& quantity) {
  const Int128 unit = resource == "cpu" ? kNano / 1000 : kNano;
  return std::max<Int128>(0, quantity.nano()) / unit;
}

void note_fault(DeviceFaults& faults, DeviceReason reason, std::string what) {
  std::vector<std::string>& known = faults[reason];
  if (known.size() < kDeviceFaultsMax && std::find(known.begin(), known.end(), what) == known.end())
    known.push_back(std::move(what));
}

// The capacity of a device by its name, which may be written without the driver's domain.
const DeviceCapacity* capacity_of(const DeviceFacts& device, std::string_view driver,
                                  std::string_view name) {
  const auto find = [&](std::string_view written) {
    const auto at = std::find_if(device.capacity.begin(), device.capacity.end(),
                                 [&](const auto& each) { return each.name == written; });
    return at == device.capacity.end() ? nullptr : &*at;
  };
  if (const DeviceCapacity* same = find(name)) return same;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return find(std::string(driver) + "/" + std::string(name));
  return name.substr(0, slash) == driver ? find(name.substr(slash + 1)) : nullptr;
}

// The flavor of the devices that consume a counter set, under which the set counts.
struct CountedSet {
  CountedFlavor counts;
  Int128 value = 0;
};
// A device that consumes counters and counts for these resources if its counters suffice.
struct Partition {
  const DeviceFacts* device = nullptr;
  bool used = false;
  bool by_source = false;  // a counter that it consumes counts, too
  std::size_t order = 0;   // the least of its resources
  std::vector<std::pair<const DeviceResource*, CountedFlavor>> counts;
};
// By the number of the resource and of its source, and the name of the set.
using CountedSets =
    std::map<std::pair<std::pair<std::size_t, std::size_t>, std::string>, CountedSet>;

class PoolCount {
 public:
  PoolCount(CountReader state, const Cluster& cluster, const DevicePoolKey& key,
            const std::vector<NamedSlice>& slices)
      : state_(state),
        cluster_(cluster),
        resources_(cluster.device_capacity.index->resources),
        key_(key),
        slices_(slices) {}

  PoolOffer run() {
    for (const NamedSlice& slice : slices_)
      for (const DeviceFacts& device : slice.facts->devices) add(*slice.facts, device);
    add_partitions();
    for (const auto& [id, set] : sets_) {
      const std::string& resource = resources_[id.first.first].resource;
      if (set.counts.where == CountedFlavor::Where::ambiguous)
        note_fault(offer_.faults, DeviceReason::flavor_ambiguous,
                   "counter set " + id.second + " of " + pool_text());
      else
        add_units(set.counts, resource, set.value);
    }
    return std::move(offer_);
  }

 private:
  std::string pool_text() const { return "pool " + key_.driver + "/" + key_.pool; }
  std::string text_of(const DeviceFacts& device) const {
    return "device " + device.name + " of " + pool_text();
  }

  void add(const ResourceSliceFacts& slice, const DeviceFacts& device) {
    if (resources_.empty() || !is_healthy(cluster_, slice, device)) return;
    const DeviceResource* under = nullptr;
    Partition partition;
    for (std::size_t i = 0; i < resources_.size(); ++i) {
      const DeviceResource& resource = resources_[i];
      if (!matches(resource, device)) continue;
      const CountedFlavor counts =
          counted_flavor(state_, cluster_, reach_of(slice, device), resource.resource);
      if (counts.where == CountedFlavor::Where::nowhere) continue;
      if (counts.where == CountedFlavor::Where::ambiguous) {
        // Counter sets count under the flavor of their devices, so it concerns them too.
        if (resource.sources.empty() || !add_by_sources(i, device, counts))
          note_fault(offer_.faults, DeviceReason::flavor_ambiguous, text_of(device));
        continue;
      }
      const bool by_source = !resource.sources.empty() && add_by_sources(i, device, counts);
      const bool counted = resource.sources.empty() || by_source;
      partition.by_source |= by_source;
      if (resource.sources.empty()) partition.counts.emplace_back(&resource, counts);
      if (counted && under)
        note_fault(offer_.faults, DeviceReason::device_overlap,
                   text_of(device) + " as " + under->resource + " and " + resource.resource);
      if (counted) under = &resource;
    }
    if (!partition.counts.empty()) add_device(device, std::move(partition));
  }

  void add_device(const DeviceFacts& device, Partition partition) {
    if (!device.extras || device.extras->consumes.empty()) return count(partition);
    partition.device = &device;
    partition.used = is_used(cluster_, {key_.driver, key_.pool, device.name});
    partition.order = partition.counts.front().first->order;
    for (const auto& [resource, counts] : partition.counts)
      partition.order = std::min(partition.order, resource->order);
    partitions_.push_back(std::move(partition));
  }

  void count(const Partition& device) {
    for (const auto& [resource, counts] : device.counts)
      add_units(counts, resource->resource, one_of(resource->resource));
  }

  // Counts what can be allocated together.
  void add_partitions() {
    if (partitions_.empty()) return;
    PoolCounters left;
    for (const NamedSlice& slice : slices_) left.add(*slice.facts);
    // Also one that does not count, for want of a name or of health, has its counters.
    for (const NamedSlice& slice : slices_)
      for (const DeviceFacts& device : slice.facts->devices)
        if (device.extras && is_used(cluster_, {key_.driver, key_.pool, device.name}))
          left.charge(device.extras->consumes);
    partitions_.sort([](const Partition& a, const Partition& b) {
      return a.used != b.used ? a.used : a.order < b.order;
    });
    std::map<std::string, std::size_t> all;                           // by resource
    std::map<std::string, std::vector<const DeviceFacts*>> left_out;  // by resource
    for (const Partition& one : partitions_) {
      for (const auto& [resource, counts] : one.counts) ++all[resource->resource];
      if (one.used || left.fit(*one.device)) {
        if (!one.used) left.charge(one.device->extras->consumes);
        count(one);
        note_counted_sets(one);
        continue;
      }
      offer_.left_out.insert(one.device->name);
      for (const auto& [resource, counts] : one.counts)
        left_out[resource->resource].push_back(one.device);
    }
    for (const auto& [resource, devices] : left_out)
      note_fault(offer_.faults, DeviceReason::counters_shared,
                 std::to_string(devices.size()) + " of " + std::to_string(all[resource]) +
                     " devices of " + pool_text() + " are left out as " + resource +
                     " (the first: " + devices.front()->name + ")");
  }

  // A set that counts by a source counts whole. A device that takes of it and counts as another
  // resource is promised beside.
  void note_counted_sets(const Partition& one) {
    if (one.by_source) return;
    for (const CounterSet& consumed : one.device->extras->consumes)
      for (const auto& [id, set] : sets_)
        if (id.second == consumed.name)
          note_fault(offer_.faults, DeviceReason::counters_shared,
                     "counter set " + consumed.name + " of " + pool_text() + " as " +
                         resources_[id.first.first].resource + ", and its device " +
                         one.device->name + " as " + one.counts.front().first->resource);
  }

  static Int128 one_of(const std::string& resource) { return resource == "cpu" ? 1000 : 1; }

  bool matches(const DeviceResource& resource, const DeviceFacts& device) {
    std::string why;
    const DeviceMatch match = fairlead::match(resource, key_.driver, device, why);
    if (match == DeviceMatch::error)
      note_fault(offer_.faults, DeviceReason::selector_error, why + " on " + text_of(device));
    return match == DeviceMatch::yes;
  }

  void add_units(const CountedFlavor& counts, const std::string& resource, Int128 units) {
    if (counts.where != CountedFlavor::Where::flavor || units == 0) return;
    DeviceSum& sum = offer_.sums[{counts.flavor, resource}];
    sum.offered += units;
    if (counts.growing) sum.growing += units;
  }

  // Returns whether a source counts the device.
  bool add_by_sources(std::size_t resource, const DeviceFacts& device,
                      const CountedFlavor& counts) {
    bool counted = false;
    const std::vector<NamingSource>& sources = resources_[resource].sources;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const NamingSource& source = sources[i];
      if (source.driver != key_.driver || !selects(source, device)) continue;
      if (source.kind == NamingSource::Kind::counter)
        counted |= add_sets({resource, i}, device, counts);
      else
        counted |= add_capacity(resources_[resource].resource, source, device, counts);
    }
    return counted;
  }

  bool selects(const NamingSource& source, const DeviceFacts& device) {
    std::string why;
    const SelectorVerdict verdict = source.selector.evaluate(key_.driver, device, why);
    if (verdict == SelectorVerdict::error)
      note_fault(
          offer_.faults, DeviceReason::selector_error,
          "the deviceSelector of source " + source.name + " (" + why + ") on " + text_of(device));
    return verdict == SelectorVerdict::yes;
  }

  bool add_capacity(const std::string& resource, const NamingSource& source,
                    const DeviceFacts& device, const CountedFlavor& counts) {
    const DeviceCapacity* capacity = capacity_of(device, key_.driver, source.name);
    if (!capacity || counts.where != CountedFlavor::Where::flavor) return false;
    add_units(counts, resource, whole_units(resource, capacity->value));
    return true;
  }

  // Notes the counter sets that the device consumes. Each counts once, when all are known.
  bool add_sets(std::pair<std::size_t, std::size_t> source, const DeviceFacts& device,
                const CountedFlavor& counts) {
    if (!device.extras) return false;
    const NamingSource& by = resources_[source.first].sources[source.second];
    bool counted = false;
    for (const CounterSet& consumed : device.extras->consumes) {
      const CounterSet* set = set_of(consumed.name);
      if (!set) continue;
      const auto counter = set->counters.find(by.name);
      if (counter == set->counters.end()) continue;
      CountedSet& known = sets_[{source, consumed.name}];
      known.value = whole_units(resources_[source.first].resource, counter->second);
      if (known.counts.where == CountedFlavor::Where::nowhere)
        known.counts = counts;
      else if (counts.where == CountedFlavor::Where::ambiguous ||
               known.counts.flavor != counts.flavor)
        known.counts.where = CountedFlavor::Where::ambiguous;
      known.counts.growing |= counts.growing;
      counted = true;
    }
    return counted;
  }

  const CounterSet* set_of(const std::string& name) const {
    for (const NamedSlice& slice : slices_)
      for (const CounterSet& set : slice.facts->counters)
        if (set.name == name) return &set;
    return nullptr;
  }

  CountReader state_;
  const Cluster& cluster_;
  const std::vector<DeviceResource>& resources_;
  const DevicePoolKey& key_;
  const std::vector<NamedSlice>& slices_;
  CountedSets sets_;
  std::list<Partition> partitions_;  // its sort keeps the order of what is equal
  PoolOffer offer_;
};

}  // namespace

PoolOffer offer_of(CountReader state, const Cluster& cluster, const DevicePoolKey& key,
                   const std::vector<NamedSlice>& slices) {
  return PoolCount(state, cluster, key, slices).run();
}

DeviceMatch match(const DeviceResource& resource, const std::string& driver,
                  const DeviceFacts& device, std::string& why) {
  DeviceMatch result = DeviceMatch::no;
  for (const NamingClass& each : resource.classes) {
    // The first selector that is not true decides.
    SelectorVerdict verdict = SelectorVerdict::yes;
    std::string error;
    for (const CelSelector& selector : each.selectors)
      if (verdict = selector.evaluate(driver, device, error); verdict != SelectorVerdict::yes)
        break;
    if (verdict == SelectorVerdict::yes) return DeviceMatch::yes;
    if (verdict != SelectorVerdict::error || result == DeviceMatch::error) continue;
    result = DeviceMatch::error;
    why = "a selector of class " + each.name + " (" + error + ")";
  }
  return result;
}

bool is_healthy(const Cluster& cluster, const ResourceSliceFacts& slice,
                const DeviceFacts& device) {
  for (const Taint& taint : taints_of(slice, device, cluster.device_capacity.index->rules)) {
    if (taint.effect == "NoExecute") return false;
    if (taint.effect == "NoSchedule" && !is_used(cluster, {slice.driver, slice.pool, device.name}))
      return false;
  }
  return true;
}

}  // namespace fairlead
