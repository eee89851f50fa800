#include "engine/devices/fit/kinds.h"

#include <algorithm>
#include <set>

namespace fairlead::fitting {

namespace {

void append(std::string& key, std::string_view part) {
  // The length in front keeps different lists of parts from making one key.
  key += std::to_string(part.size());
  key += ':';
  key += part;
}

void append_cost(std::string& key, const DeviceFacts& device) {
  for (const CounterSet& set : device.extras->consumes) {
    append(key, set.name);
    for (const auto& [counter, value] : set.counters) {
      append(key, counter);
      append(key, value.text());
    }
  }
}

}  // namespace

Kinds::Kinds(ClusterDeviceIndex& devices, const Taken& taken, const GangPlan& gang)
    : devices_(devices), taken_(taken) {
  std::set<const DeviceAsk*> seen;
  std::set<std::string> names;
  for (const PodPlan& plan : gang.plans) {
    usable_ = usable_ && !plan.can_break();
    for (const Request& request : plan.requests)
      for (const Ask& ask : request.asks)
        if (!ask.nothing && seen.insert(ask.facts).second) asks_.push_back(&ask);
    for (const ClaimPlan& claim : plan.claims)
      for (const DeviceConstraint* constraint : claim.constraints)
        names.insert(constraint->match.empty() ? constraint->distinct : constraint->match);
  }
  attributes_.assign(names.begin(), names.end());
}

std::optional<std::uint32_t> Kinds::of(const Device& device) {
  if (!usable_ || device.shared || device.uses || device.pick != 0) return std::nullopt;
  if (device.slice->facts->reach.kind == NodeReachKind::devices) return std::nullopt;
  // Remembered for the whole search: of a device that is neither shared nor in use nothing in
  // looks() depends on what the search has taken.
  const auto [at, added] = known_.try_emplace(&device, 0);
  if (added) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    at->second = numbers_.try_emplace(looks(device), next).first->second;
  }
  return at->second;
}

std::string Kinds::looks(const Device& device) {
  const ResourceSliceFacts& slice = *device.slice->facts;
  std::string key;
  // A device that may reach other nodes, or that shares counters, is only like others of its slice.
  const bool local = slice.reach.kind == NodeReachKind::node && !device.counted;
  append(key, local ? "node" : "slice");
  append(key, local ? slice.reach.node : device.slice->name());
  for (const Ask* ask : asks_) {
    const SelectorVerdict verdict = devices_.verdict(device, ask->list);
    const bool fits = taken_.capacities_fit(device, *ask, Shares::of_all) &&
                      taken_.taints_tolerated(device, *ask);
    key += static_cast<char>('0' + 2 * static_cast<int>(verdict) + (fits ? 1 : 0));
  }
  for (const std::string& name : attributes_) {
    const auto value = attribute_of(device, name);
    append(key, value ? *value : std::string_view());
  }
  if (device.counted) append_cost(key, device.facts());
  return key;
}

}  // namespace fairlead::fitting
