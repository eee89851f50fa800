#include "engine/devices/fit/taken.h"

#include <algorithm>
#include <limits>

#include "engine/devices/capacity_policy.h"
#include "engine/devices/tolerance.h"

namespace fairlead::fitting {

namespace {

// Returns what the request takes of each capacity of the device; nullopt if the device lacks one
// that is asked for, or a policy refuses the amount. Names are compared as they are written, as the
// scheduler does.
std::optional<std::vector<Int128>> amounts(const DeviceFacts& device, const Ask& ask) {
  const auto& asked = ask.facts->capacity;
  std::vector<Int128> taken;
  std::size_t known = 0;
  for (const DeviceCapacity& capacity : device.capacity) {
    const auto at = asked.find(capacity.name);
    if (at != asked.end()) ++known;
    const auto amount = consumption(capacity, at == asked.end() ? nullptr : &at->second);
    if (!amount) return std::nullopt;
    taken.push_back(amount->nano());
  }
  if (known < asked.size()) return std::nullopt;
  return taken;
}

Int128 used_shares(const Device& device, const std::string& capacity) {
  if (!device.uses) return 0;
  const auto at = device.uses->consumed.find(capacity);
  return at == device.uses->consumed.end() ? 0 : at->second.nano();
}

// FNV-1a with 128 bits. Fingerprints are added, so that the order of the picks does not matter. The
// chance that two of the n states that a search remembers have the same sum is below n^2 / 2^129.
// FNV does not resist names that were made to collide, and need not: a state that is mistaken for
// another one is not searched again, so the answer may be that fewer pods fit than really do. No
// device is taken twice, because what is taken is read from the picks.
class Fingerprint {
 public:
  void add(std::string_view text) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    mix(0x100);  // the end, which is not a character
  }
  void add(Int128 number) {
    for (int i = 0; i < 16; ++i) mix(static_cast<unsigned>(number >> (8 * i)) & 0xff);
  }
  TakenState value() const { return value_; }

 private:
  void mix(unsigned part) { value_ = (value_ ^ part) * kPrime; }

  static constexpr TakenState kPrime = (TakenState{1} << 88) + 0x13b;
  TakenState value_ = (TakenState{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
};

TakenState fingerprint_of(const Pick& pick) {
  Fingerprint print;
  print.add(pick.pool->driver());
  print.add(pick.pool->name());
  print.add(pick.device->facts().name);
  for (const Int128 amount : pick.consumed) print.add(amount);
  return print.value();
}

}  // namespace

std::optional<std::string_view> attribute_of(const Device& device, std::string_view name) {
  const DeviceAttributes& attributes = device.facts().attributes;
  if (const auto value = attributes.find(name)) return value;
  const auto slash = name.find('/');
  if (slash == std::string_view::npos || name.substr(0, slash) != device.slice->facts->driver)
    return std::nullopt;
  return attributes.find(name.substr(slash + 1));
}

Taken::~Taken() {
  while (!picks_.empty()) give_back();
}

// What a pod takes with adminAccess counts for itself alone, so its charges of counters are given
// back while later pods take, and come again with return_to_pod(). The picks stay in place: they
// are a stack, of which `Device::pick` and Pick::before are the links, so only the last one may go,
// and all picks of a later pod have gone when its predecessor returns. Both loops walk the same
// picks from the last to the first. Their order does not matter: charges are sums. A charge stays
// in force while another pick shares the device, and is then not added again: only charges with
// `suspended` set are.
void Taken::enter_pod() {
  for (auto at = picks_.rbegin(); at != picks_.rend() && at->pod == pod_; ++at) {
    if (!at->admin || !at->charged) continue;
    // A share that stays was not charged, because this pick had been.
    bool stays = false;
    for (const Pick* pick = last(*at->device); pick; pick = before(*pick))
      stays = stays || !pick->admin;
    if (stays) continue;
    at->charged = false;
    at->suspended = true;
    at->pool->counters_left().give_back(at->device->facts().extras->consumes);
    ++at->pool->version;
  }
  ++pod_;
}

void Taken::return_to_pod() {
  --pod_;
  for (auto at = picks_.rbegin(); at != picks_.rend() && at->pod == pod_; ++at) {
    if (!at->suspended) continue;
    at->suspended = false;
    at->charged = true;
    at->pool->counters_left().charge(at->device->facts().extras->consumes);
    ++at->pool->version;
  }
}

bool Taken::is_out(const Device& device, const Ask& ask, std::uint32_t claim) const {
  if (ask.facts->admin) {
    if (device.shared) return false;
    for (const Pick* pick = last(device); pick && pick->pod == pod_; pick = before(*pick))
      if (pick->claim == claim) return true;
    return false;
  }
  if (device.used_whole()) return true;
  if (device.shared) return false;
  for (const Pick* pick = last(device); pick; pick = before(*pick))
    if (counts(*pick)) return true;
  return false;
}

Int128 Taken::shares(const Device& device, std::size_t capacity, Shares of) const {
  Int128 sum = 0;
  for (const Pick* pick = last(device); pick; pick = before(*pick)) {
    // Picks of earlier pods are further back, and `lasting` is the sum of all of them.
    if (pick->pod != pod_) return saturating_sum(sum, pick->lasting[capacity]);
    if (of == Shares::of_all) sum = saturating_sum(sum, pick->consumed[capacity]);
  }
  return sum;
}

bool Taken::capacities_fit(const Device& device, const Ask& ask, Shares shares) const {
  const DeviceFacts& facts = device.facts();
  const bool plain = !device.shared && !device.has_shares() && ask.facts->capacity.empty();
  if (plain && std::none_of(facts.capacity.begin(), facts.capacity.end(),
                            [](const DeviceCapacity& one) { return one.policy.has_value(); }))
    return true;
  const auto taken = amounts(facts, ask);
  if (!taken) return false;
  for (std::size_t i = 0; i < taken->size(); ++i) {
    const DeviceCapacity& capacity = facts.capacity[i];
    Int128 sum = saturating_sum(used_shares(device, capacity.name), (*taken)[i]);
    if (device.shared) sum = saturating_sum(sum, this->shares(device, i, shares));
    if (sum > capacity.value.nano()) return false;
  }
  return true;
}

bool Taken::counters_fit(IndexedPool& pool, const Device& device) {
  if (!device.counted) return true;
  if (pool.unknown_costs > 0) return false;
  if (device.shared) {
    // A shared device costs its counters once, and a share of it has been charged already.
    if (device.has_shares()) return true;
    for (const Pick* pick = last(device); pick; pick = before(*pick))
      if (counts(*pick)) return true;
  }
  return pool.counters_left().fit(device.facts());
}

bool Taken::taints_tolerated(const Device& device, const Ask& ask) const {
  if (!device.tainted) return true;
  const auto taints = devices_.taints(device);
  return std::all_of(taints.begin(), taints.end(),
                     [&](const Taint& taint) { return tolerated(taint, ask.facts->tolerations); });
}

bool Taken::constraints_hold(const Device& device, const Ask& ask, const ClaimPlan& plan,
                             std::uint32_t claim) const {
  for (const std::uint32_t number : ask.constraints) {
    const DeviceConstraint& constraint = *plan.constraints[number];
    const bool match = !constraint.match.empty();
    const std::string& name = match ? constraint.match : constraint.distinct;
    const auto value = attribute_of(device, name);
    if (!value) return false;
    for (auto at = picks_.rbegin(); at != picks_.rend(); ++at) {
      // The picks of a pod for a claim are the last ones while the claim is being solved.
      if (at->pod != pod_ || at->claim != claim) break;
      const auto& concerned = at->ask->constraints;
      if (std::find(concerned.begin(), concerned.end(), number) == concerned.end()) continue;
      if ((attribute_of(*at->device, name) == value) != match) return false;
    }
  }
  return true;
}

// Whether the counters know of the device already.
bool Taken::is_charged(const Device& device) const {
  if (device.uses) return true;
  for (const Pick* pick = last(device); pick; pick = before(*pick))
    if (pick->charged) return true;
  return false;
}

void Taken::take(IndexedPool& pool, Device& device, const Ask& ask, std::uint32_t claim,
                 Position at) {
  Pick pick;
  pick.pool = &pool;
  pick.device = &device;
  pick.ask = &ask;
  pick.at = at;
  pick.pod = pod_;
  pick.claim = claim;
  pick.before = device.pick;
  pick.admin = ask.facts->admin;
  if (device.counted && !is_charged(device)) {
    pick.charged = true;
    pool.counters_left().charge(device.facts().extras->consumes);
  }
  if (device.shared) {
    // capacities_fit() has found that there are amounts.
    pick.consumed = *amounts(device.facts(), ask);
    const Pick* former = last(device);
    pick.lasting = former ? former->lasting : std::vector<Int128>(pick.consumed.size());
    if (!pick.admin)
      for (std::size_t i = 0; i < pick.consumed.size(); ++i)
        pick.lasting[i] = saturating_sum(pick.lasting[i], pick.consumed[i]);
  }
  picks_.push_back(std::move(pick));
  device.pick = static_cast<std::uint32_t>(picks_.size());
  ++pool.version;
}

void Taken::give_back() {
  const Pick& pick = picks_.back();
  if (pick.charged) pick.pool->counters_left().give_back(pick.device->facts().extras->consumes);
  pick.device->pick = pick.before;
  ++pick.pool->version;
  picks_.pop_back();
}

Int128 Taken::plugin_left(const DeviceNode& node, const std::string& resource) const {
  const Int128 all = node.facts->allocatable.find(resource).value_or(0);
  Int128 left = saturating_difference(all, devices_.plugin_reserved(node.name(), resource));
  const auto of_node = of_plugins_.find(node.number);
  if (of_node == of_plugins_.end()) return left;
  const auto taken = of_node->second.taken.find(resource);
  return taken == of_node->second.taken.end() ? left : saturating_difference(left, taken->second);
}

void Taken::take_of_plugin(const DeviceNode& node, const std::string& resource, Amount amount) {
  plugin_picks_.push_back({&node, &resource, amount});
  OfPlugins& of_node = of_plugins_[node.number];
  Int128& taken = of_node.taken[resource];
  taken = saturating_sum(taken, amount);
  ++of_node.version;
}

void Taken::give_back_of_plugins(std::size_t left) {
  for (; plugin_picks_.size() > left; plugin_picks_.pop_back()) {
    const PluginPick& pick = plugin_picks_.back();
    OfPlugins& of_node = of_plugins_[pick.node->number];
    Int128& taken = of_node.taken[*pick.resource];
    taken = saturating_difference(taken, pick.amount);
    ++of_node.version;
  }
}

std::uint64_t Taken::plugin_version(const DeviceNode& node) const {
  const auto of_node = of_plugins_.find(node.number);
  return of_node == of_plugins_.end() ? 0 : of_node->second.version;
}

TakenState Taken::state() const {
  TakenState sum = 0;
  for (const PluginPick& pick : plugin_picks_) {
    Fingerprint print;
    print.add(pick.node->name());
    print.add(*pick.resource);
    // Multiplied, so that two equal picks are one of twice the amount.
    sum += print.value() * static_cast<TakenState>(pick.amount);
  }
  for (const Pick& pick : picks_) {
    if (pick.admin) continue;
    if (pick.fingerprint == 0) pick.fingerprint = fingerprint_of(pick);
    sum += pick.fingerprint;
  }
  return sum;
}

bool Taken::is_taken_for_good(const Device& device) const {
  for (const Pick* pick = last(device); pick; pick = before(*pick))
    if (!pick->admin) return true;
  return false;
}

std::int64_t Taken::shares_left(const Device& device, const Ask& ask) const {
  const auto taken = amounts(device.facts(), ask);
  if (!taken) return 0;
  std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const Pick* former = last(device);
  for (std::size_t i = 0; i < taken->size(); ++i) {
    const DeviceCapacity& capacity = device.facts().capacity[i];
    Int128 used = used_shares(device, capacity.name);
    if (former) used = saturating_sum(used, former->lasting[i]);
    const Int128 left = saturating_difference(capacity.value.nano(), used);
    if (left < (*taken)[i]) return 0;
    if ((*taken)[i] > 0) most = std::min(most, saturate(left / (*taken)[i]));
  }
  return most;
}

}  // namespace fairlead::fitting
