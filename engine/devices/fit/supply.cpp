#include "engine/devices/fit/supply.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace fairlead::fitting {

namespace {

constexpr std::int64_t kPlenty = std::numeric_limits<std::int32_t>::max();

// About a tenth of a second of looking at devices.
constexpr std::int64_t kWorkMax = 3'000'000;

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
  // Each of the devices takes at least `least` of every counter that all of them consume, so at
  // most left / least of them can be taken together.
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

std::int64_t Supply::sum(const std::vector<PicksOfValue>& picks) {
  std::int64_t sum = 0;
  for (const PicksOfValue& one : picks) sum = at_most_plenty(sum + one.picks);
  return sum;
}

Supply::Supply(ClusterDeviceIndex& devices, Taken& taken, NodeFilter& filter, const GangPlan& gang)
    : devices_(devices), taken_(taken), filter_(filter), gang_(gang) {
  nodes_.resize(gang.plans.size());
}

bool Supply::may_hold(std::uint32_t plan, std::int64_t count) {
  // Yes is allowed: a bound may be too great, and the search then ends by its own steps.
  if (work_ > kWorkMax) return true;
  return nodes_may_hold(plan, count) &&
         (devices_.wide_pools().empty() || pools_may_hold(gang_.plans[plan], count));
}

bool Supply::nodes_may_hold(std::uint32_t plan, std::int64_t count) {
  const auto& nodes = devices_.nodes();
  std::vector<Counted>& known = nodes_[plan];
  known.resize(nodes.size());
  std::int64_t pods = 0;
  for (DeviceNode* node : nodes) {
    if (pods >= count) return true;
    ++work_;
    if (!filter_.may_fit(plan, node->number)) continue;
    // Versions only rise, so an equal sum means that nothing on the node has changed.
    std::uint64_t versions = taken_.plugin_version(*node);
    for (const DevicePlace& place : devices_.places(*node)) versions += place.pool->version;
    Counted& counted = known[node->number];
    if (counted.pods < 0 || counted.versions != versions)
      counted = {versions, filter_.is_usable(plan, *node) ? pods_on(gang_.plans[plan], *node) : 0};
    pods += counted.pods;
  }
  return pods >= count;
}

std::int64_t Supply::pods_on(const PodPlan& plan, DeviceNode& node) {
  std::int64_t pods = kPlenty;
  for (const Request& request : plan.requests) {
    pods = std::min(pods, is_offered(request, node) ? pods_by_plugin(request, node)
                                                    : pods_by(plan, request, node));
    if (pods == 0) break;
  }
  return pods;
}

std::int64_t Supply::pods_by_plugin(const Request& request, const DeviceNode& node) const {
  const Int128 left = taken_.plugin_left(node, request.extended);
  const Amount amount = std::max<Amount>(amount_of(request), 1);
  return at_most_plenty(saturate(std::max<Int128>(left, 0) / amount));
}

std::int64_t Supply::pods_by(const PodPlan& plan, const Request& request, DeviceNode& node) {
  std::int64_t pods = 0;
  for (const Ask& ask : request.asks) {
    if (ask.facts->admin) return kPlenty;
    // With alternatives only its own need is counted: a smaller need makes the bound greater, which
    // it may be.
    const std::int64_t need = request.asks.size() > 1 ? ask.facts->count : need_of(plan, ask);
    if (!ask.all() && need <= 0) return kPlenty;
    const std::int64_t picks = sum(picks_on(ask, node, {}));
    if (ask.all())
      pods += picks > 0 && is_exclusive(ask, node) ? 1 : picks;
    else
      pods += std::min(picks / need, pods_by_value(plan.claims[request.claim], ask, node));
    if (pods >= kPlenty) return kPlenty;
  }
  return pods;
}

// All devices of a request with matchAttribute have one value, so picks are counted by value.
std::int64_t Supply::pods_by_value(const ClaimPlan& claim, const Ask& ask, DeviceNode& node) {
  const std::string* name = matched_by(claim, ask);
  if (!name || ask.facts->count < 2) return kPlenty;
  std::int64_t pods = 0;
  for (const PicksOfValue& one : picks_on(ask, node, *name))
    pods = at_most_plenty(pods + one.picks / ask.facts->count);
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

std::vector<Supply::PicksOfValue> Supply::picks_on(const Ask& ask, DeviceNode& node,
                                                   std::string_view attribute) {
  std::vector<PicksOfValue> picks;
  if (ask.nothing) return picks;
  for (const DevicePlace& place : devices_.places(node))
    count_picks(ask, *place.pool, place.begin, place.end, attribute, picks);
  return picks;
}

void Supply::count_picks(const Ask& ask, IndexedPool& pool, std::uint32_t begin, std::uint32_t end,
                         std::string_view attribute, std::vector<PicksOfValue>& picks) {
  std::map<std::pair<std::size_t, std::string_view>, Consumers> consumers;
  work_ += end - begin;
  for (std::uint32_t i = begin; i < end; ++i) {
    const Device& device = pool.devices[i];
    if (device.used_whole() || (!device.shared && taken_.is_taken_for_good(device))) continue;
    if (devices_.verdict(device, ask.list) != SelectorVerdict::yes) continue;
    if (!taken_.taints_tolerated(device, ask)) continue;
    std::optional<std::string_view> value = std::string_view();
    if (!attribute.empty()) value = attribute_of(device, attribute);
    if (!value) continue;
    auto at = std::find_if(picks.begin(), picks.end(),
                           [&](const PicksOfValue& one) { return one.value == *value; });
    if (at == picks.end()) at = picks.insert(at, {*value, 0});
    if (device.shared)
      at->picks = at_most_plenty(at->picks + taken_.shares_left(device, ask));
    else if (!device.counted)
      ++at->picks;
    else if (pool.unknown_costs == 0)
      // A device that is counted consumes one set at least. The others bound it further, and may be
      // left out.
      consumers[{at - picks.begin(), device.facts().extras->consumes.front().name}].add(
          device.facts().extras->consumes.front());
  }
  for (const auto& [whose, devices] : consumers)
    picks[whose.first].picks += devices.at_once(whose.second, pool.counters_left());
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
      ++work_;
      if (!pool.complete()) continue;
      CountedPicks& known = by_pool_[row][pool.number];
      if (known.picks < 0 || known.version != pool.version) {
        known.version = pool.version;
        std::vector<PicksOfValue> counted;
        count_picks(ask, pool, 0, static_cast<std::uint32_t>(pool.devices.size()), {}, counted);
        known.picks = sum(counted);
      }
      picks = at_most_plenty(picks + known.picks);
    }
    if (need > 0 && picks / need < count) return false;
  }
  return true;
}

}  // namespace fairlead::fitting
