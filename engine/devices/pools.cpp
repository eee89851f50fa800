#include "engine/devices/pools.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace fairlead {

namespace {

std::string count_of(std::size_t count, std::string_view things) {
  return std::to_string(count) + " " + std::string(things);
}

// Returns the first name that is twice in `names`, which it sorts.
std::optional<std::string_view> repeated(std::vector<std::string_view>& names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return std::nullopt;
  return *twice;
}

// Returns what contradicts itself in the slices, whether or not more of them are still to come.
std::string contradiction(const std::vector<NamedSlice>& slices) {
  const std::int64_t wanted = slices.front().facts->slice_count;
  std::vector<std::string_view> devices, sets;
  for (const NamedSlice& slice : slices) {
    if (slice.facts->slice_count != wanted) return "resourceSliceCount differs between slices";
    for (const DeviceFacts& device : slice.facts->devices) devices.push_back(device.name);
    for (const CounterSet& set : slice.facts->counters) sets.push_back(set.name);
  }
  if (std::cmp_greater(slices.size(), wanted))
    return count_of(slices.size(), "slices of ") + std::to_string(wanted);
  if (const auto name = repeated(devices))
    return "device " + std::string(*name) + " is named twice";
  if (const auto name = repeated(sets))
    return "counter set " + std::string(*name) + " is named twice";
  return {};
}

// Returns the first counter that a device consumes and no slice of the pool has.
std::string unknown_counter(const std::vector<NamedSlice>& slices) {
  std::map<std::string_view, const Counters*> sets;
  for (const NamedSlice& slice : slices)
    for (const CounterSet& set : slice.facts->counters) sets.emplace(set.name, &set.counters);
  const auto lacking = [&](const CounterSet& consumed) -> std::string {
    const auto set = sets.find(consumed.name);
    if (set == sets.end()) return "counter set " + consumed.name;
    for (const auto& [counter, value] : consumed.counters)
      if (!set->second->contains(counter)) return "counter " + consumed.name + "/" + counter;
    return {};
  };
  for (const NamedSlice& slice : slices)
    for (const DeviceFacts& device : slice.facts->devices) {
      if (!device.extras) continue;
      for (const CounterSet& consumed : device.extras->consumes)
        if (const std::string what = lacking(consumed); !what.empty())
          return "device " + device.name + " consumes " + what + ", which the pool lacks";
    }
  return {};
}

bool matters(const Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

}  // namespace

bool selects(const DeviceTaintRuleFacts& rule, const ResourceSliceFacts& slice,
             const DeviceFacts& device) {
  return (!rule.driver || *rule.driver == slice.driver) &&
         (!rule.pool || *rule.pool == slice.pool) && (!rule.device || *rule.device == device.name);
}

PoolView view_of_pool(const std::vector<NamedSlice>& slices) {
  std::int64_t generation = slices.front().facts->generation;
  for (const NamedSlice& slice : slices) generation = std::max(generation, slice.facts->generation);
  PoolView view;
  for (const NamedSlice& slice : slices)
    if (slice.facts->generation == generation) view.slices.push_back(slice);
  const auto wanted = view.slices.front().facts->slice_count;
  if (view.why = contradiction(view.slices); !view.why.empty()) {
    view.status = PoolStatus::invalid;
  } else if (std::cmp_less(view.slices.size(), wanted)) {
    // A device may consume counters of a slice that is still to come.
    view.status = PoolStatus::incomplete;
    view.why = count_of(view.slices.size(), "slices of ") + std::to_string(wanted);
  } else if (view.why = unknown_counter(view.slices); !view.why.empty()) {
    view.status = PoolStatus::invalid;
  }
  return view;
}

std::vector<Taint> taints_of(const ResourceSliceFacts& slice, const DeviceFacts& device,
                             const std::vector<const DeviceTaintRuleFacts*>& rules) {
  std::vector<Taint> taints;
  if (device.extras) taints = device.extras->taints;
  for (const DeviceTaintRuleFacts* rule : rules)
    if (selects(*rule, slice, device)) taints.push_back(rule->taint);
  std::erase_if(taints, [](const Taint& taint) { return !matters(taint); });
  std::sort(taints.begin(), taints.end());
  taints.erase(std::unique(taints.begin(), taints.end()), taints.end());
  return taints;
}

}  // namespace fairlead
