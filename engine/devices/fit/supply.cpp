#include "engine/devices/fit/supply.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace fairlead::fitting {

namespace {

constexpr std::int64_t kPlenty = std::numeric_limits<std::int32_t>::max();

std::int64_t at_most_plenty(std::int64_t value) { return std::min(value, kPlenty); }

// Devices that consume the same counter set, as far as they bound each other: how many there are,
// and the least that each of them takes of each counter.
struct Consumers {
  std::int64_t count = 0;
  std::map<std::string_view, Int128> least;

  void add(const CounterSet& consumed) {
    std::map<std::string_view, Int128> takes;
    for (const auto& [counter, value] : consumed.counters) takes[counter] = value.nano();
    if (count++ == 0) {
      least = std::move(takes);
      return;
    }
    for (auto entry = least.begin(); entry != least.end();) {
      const auto at = takes.find(entry->first);
      if (at != takes.end()) entry->second = std::min(entry->second, at->second);
      entry = at == takes.end() ? least.erase(entry) : std::next(entry);
    }
  }
  std::int64_t at_once(std::string_view set, const PoolCounters& counters) const {
    std::int64_t most = count;
    for (const auto& [counter, value] : least) {
      const Int128* left = counters.left(set, counter);
      if (!left || value <= 0) continue;
      most = std::min(most, *left < value ? 0 : saturate(*left / value));
    }
    return most;
  }
};

}  // namespace

bool is_of_one_node(const IndexedPool& pool) {
  const std::string* node = nullptr;
  for (const NamedSlice& slice : pool.view.slices) {
    if (slice.facts->devices.empty()) continue;
    if (slice.facts->reach.kind != NodeReachKind::node) return false;
    if (!node) node = &slice.facts->reach.node;
    if (*node != slice.facts->reach.node) return false;
  }
  return true;
}

Supply::Supply(ClusterDeviceIndex& devices, const Taken& taken, NodeFilter& filter,
               const GangPlan& gang)
    : devices_(devices), taken_(taken), filter_(filter), gang_(gang) {
  nodes_.resize(gang.plans.size());
  const auto& pools = devices.pools();
  wide_ = std::any_of(pools.begin(), pools.end(),
                      [](const auto& entry) { return !is_of_one_node(entry.second); });
}

bool Supply::may_hold(std::uint32_t plan, std::int64_t count) {
  return nodes_may_hold(plan, count) && (!wide_ || pools_may_hold(gang_.plans[plan], count));
}

bool Supply::nodes_may_hold(std::uint32_t plan, std::int64_t count) {
  const auto& nodes = devices_.nodes();
  std::vector<Counted>& known = nodes_[plan];
  known.resize(nodes.size());
  std::int64_t pods = 0;
  for (DeviceNode* node : nodes) {
    if (pods >= count) return true;
    if (!filter_.may_fit(plan, *node)) continue;
    std::uint64_t versions = 0;
    for (const DevicePlace& place : devices_.places(*node)) versions += place.pool->version;
    Counted& counted = known[node->number];
    if (counted.pods < 0 || counted.versions != versions) {
      counted.versions = versions;
      counted.pods = filter_.is_usable(plan, *node) ? pods_on(gang_.plans[plan], *node) : 0;
    }
    pods += counted.pods;
  }
  return pods >= count;
}

std::int64_t Supply::pods_on(const PodPlan& plan, DeviceNode& node) {
  std::int64_t pods = kPlenty;
  for (const Request& request : plan.requests) {
    const bool offered =
        !request.extended.empty() && node.facts->allocatable.find(request.extended).value_or(0) > 0;
    if (!offered) pods = std::min(pods, pods_by(plan, request, node));
    if (pods == 0) break;
  }
  return pods;
}

std::int64_t Supply::pods_by(const PodPlan& plan, const Request& request, DeviceNode& node) {
  std::int64_t pods = 0;
  for (const Ask& ask : request.asks) {
    if (ask.facts->admin) return kPlenty;
    const std::int64_t need = request.asks.size() > 1 ? ask.facts->count : need_of(plan, ask);
    if (!ask.all() && need <= 0) return kPlenty;
    if (!ask.all()) {
      pods += std::min(picks_on(ask, node, {}) / need, pods_by_value(plan, request, ask, node));
    } else {
      const std::int64_t picks = picks_on(ask, node, {});
      pods += picks > 0 && is_exclusive(ask, node) ? 1 : picks;
    }
    if (pods >= kPlenty) return kPlenty;
  }
  return pods;
}

// Requests with the same selectors want different devices.
std::int64_t Supply::need_of(const PodPlan& plan, const Ask& ask) const {
  std::int64_t need = 0;
  for (const Request& request : plan.requests) {
    const Ask& other = request.asks.front();
    const bool alike = request.asks.size() == 1 && request.extended.empty() && !other.all() &&
                       !other.facts->admin && !other.nothing && other.list == ask.list &&
                       other.facts->tolerations == ask.facts->tolerations &&
                       other.facts->capacity == ask.facts->capacity;
    if (alike || &other == &ask) need = at_most_plenty(need + at_most_plenty(other.facts->count));
  }
  return need;
}

// Devices of a request with matchAttribute have one value: those of other values are no help.
std::int64_t Supply::pods_by_value(const PodPlan& plan, const Request& request, const Ask& ask,
                                   DeviceNode& node) {
  const auto& constraints = plan.claims[request.claim].constraints;
  const auto match = std::find_if(ask.constraints.begin(), ask.constraints.end(),
                                  [&](auto number) { return !constraints[number]->match.empty(); });
  if (ask.nothing || ask.facts->count < 2 || match == ask.constraints.end()) return kPlenty;
  const std::string& name = constraints[*match]->match;
  std::set<std::string_view> values;
  for (const DevicePlace& place : devices_.places(node))
    for (std::uint32_t i = place.begin; i < place.end; ++i)
      if (const auto value = attribute_of(place.pool->devices[i], name)) values.insert(*value);
  std::int64_t pods = 0;
  for (const std::string_view value : values)
    pods = at_most_plenty(pods + picks_on(ask, node, {name, value}) / ask.facts->count);
  return pods;
}

std::int64_t Supply::picks_on(const Ask& ask, DeviceNode& node, const Wanted& wanted) {
  if (ask.nothing) return 0;
  std::int64_t picks = 0;
  for (const DevicePlace& place : devices_.places(node))
    picks = at_most_plenty(picks + picks_of(ask, *place.pool, place.begin, place.end, wanted));
  return picks;
}

std::int64_t Supply::picks_of(const Ask& ask, IndexedPool& pool, std::uint32_t begin,
                              std::uint32_t end, const Wanted& wanted) {
  std::int64_t picks = 0;
  std::map<std::string_view, Consumers> consumers;
  for (std::uint32_t i = begin; i < end; ++i) {
    const Device& device = pool.devices[i];
    if (device.used_whole() || (!device.shared && taken_.is_taken_for_good(device))) continue;
    if (devices_.verdict(device, ask.list) != SelectorVerdict::yes) continue;
    if (!wanted.name.empty() && attribute_of(device, wanted.name) != wanted.value) continue;
    if (!taken_.taints_tolerated(device, ask)) continue;
    if (device.shared)
      picks = at_most_plenty(picks + taken_.shares_left(device, ask));
    else if (!device.counted)
      ++picks;
    else if (pool.unknown_costs == 0)
      consumers[device.facts().extras->consumes.front().name].add(
          device.facts().extras->consumes.front());
  }
  for (const auto& [set, devices] : consumers) picks += devices.at_once(set, pool.counters_left());
  return at_most_plenty(picks);
}

// Whether a request for all devices wants one that only one pod can have.
bool Supply::is_exclusive(const Ask& ask, DeviceNode& node) {
  for (const DevicePlace& place : devices_.places(node))
    for (std::uint32_t i = place.begin; i < place.end; ++i) {
      const Device& device = place.pool->devices[i];
      if (!device.shared && devices_.verdict(device, ask.list) == SelectorVerdict::yes &&
          taken_.capacities_fit(device, ask, Shares::of_earlier_pods))
        return true;
    }
  return false;
}

// A pool that reaches several nodes was counted for each of them: here it counts once.
bool Supply::pools_may_hold(const PodPlan& plan, std::int64_t count) {
  for (const Request& request : plan.requests) {
    const Ask& ask = request.asks.front();
    if (request.asks.size() > 1 || !request.extended.empty() || ask.facts->admin || ask.nothing)
      continue;
    const std::int64_t need = ask.all() ? 1 : need_of(plan, ask);
    const auto at = std::find(pool_asks_.begin(), pool_asks_.end(), &ask);
    const auto row = static_cast<std::size_t>(at - pool_asks_.begin());
    if (at == pool_asks_.end()) {
      pool_asks_.push_back(&ask);
      by_pool_.emplace_back(devices_.pool_numbers());
    }
    std::int64_t picks = 0;
    for (auto& [key, pool] : devices_.pools()) {
      if (picks / std::max<std::int64_t>(need, 1) >= count) break;
      if (!pool.complete()) continue;
      CountedPicks& known = by_pool_[row][pool.number];
      if (known.picks < 0 || known.version != pool.version) {
        known.version = pool.version;
        known.picks = picks_of(ask, pool, 0, static_cast<std::uint32_t>(pool.devices.size()), {});
      }
      picks = at_most_plenty(picks + known.picks);
    }
    if (need > 0 && picks / need < count) return false;
  }
  return true;
}

}  // namespace fairlead::fitting
