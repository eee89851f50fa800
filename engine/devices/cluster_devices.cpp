#include "engine/devices/cluster_devices.h"

#include <algorithm>
#include <tuple>

#include "engine/devices/node_reach.h"

namespace fairlead {

namespace {

bool in_order(const IndexedPool* a, const IndexedPool* b) { return *a->key < *b->key; }

bool binds(const DevicePlace& place) {
  const auto& devices = place.pool->devices;
  return std::any_of(devices.begin() + place.begin, devices.begin() + place.end,
                     [](const Device& device) { return device.binds; });
}

// Appends the runs of devices that reach the node, for a slice whose devices each say which nodes
// they reach.
void append_runs(const PublishedSlice& slice, const DeviceNode& node,
                 std::vector<DevicePlace>& places) {
  const auto count = static_cast<std::uint32_t>(slice.facts->devices.size());
  bool running = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const NodeReach& reach = reach_of(*slice.facts, slice.facts->devices[i]);
    const bool reached = reaches(reach, node.name(), node.labels);
    if (reached && running)
      ++places.back().end;
    else if (reached)
      places.push_back({slice.pool, slice.first + i, slice.first + i + 1});
    running = reached;
  }
}

bool has_selector(const ResourceSliceFacts& slice) {
  if (slice.reach.kind == NodeReachKind::selector) return true;
  return slice.reach.kind == NodeReachKind::devices &&
         std::any_of(slice.devices.begin(), slice.devices.end(), [&](const DeviceFacts& device) {
           return reach_of(slice, device).kind == NodeReachKind::selector;
         });
}

bool reaches_by_selector(const ResourceSliceFacts& slice, const DeviceNode& node) {
  const auto selects = [&](const NodeReach& reach) {
    return reach.kind == NodeReachKind::selector && reaches(reach, node.name(), node.labels);
  };
  if (slice.reach.kind != NodeReachKind::devices) return selects(slice.reach);
  return std::any_of(slice.devices.begin(), slice.devices.end(),
                     [&](const DeviceFacts& device) { return selects(reach_of(slice, device)); });
}

bool names_node(const ResourceSliceFacts& slice, const std::string& node) {
  const auto names = [&](const NodeReach& reach) {
    return reach.kind == NodeReachKind::node && reach.node == node;
  };
  if (slice.reach.kind != NodeReachKind::devices) return names(slice.reach);
  return std::any_of(slice.devices.begin(), slice.devices.end(),
                     [&](const DeviceFacts& device) { return names(reach_of(slice, device)); });
}

}  // namespace

// ---- slices and pools ----

IndexedPool& ClusterDeviceIndex::pool_of(const std::string& driver, const std::string& pool) {
  const auto [at, added] = pools_.try_emplace(Key{driver, pool});
  if (!added) return at->second;
  at->second.key = &at->first;
  // Numbers in use and free ones are together 0 to pool_numbers() - 1: with none free, the next one
  // is the number of the other pools.
  at->second.number = static_cast<std::uint32_t>(pools_.size()) - 1;
  if (free_numbers_.empty()) return at->second;
  at->second.number = free_numbers_.back();
  free_numbers_.pop_back();
  return at->second;
}

void ClusterDeviceIndex::mark_stale(IndexedPool& pool) {
  pool.stale = true;
  if (pool.queued) return;
  pool.queued = true;
  stale_.push_back(&pool);
}

void ClusterDeviceIndex::set_slice(const std::string& name, const ResourceSliceFacts& facts) {
  const auto known = slices_.find(name);
  if (known != slices_.end() && reaches_the_same(known->second, facts)) {
    known->second.facts = &facts;
    forget(known->second);
    return;
  }
  erase_slice(name);
  IndexedPool& pool = pool_of(facts.driver, facts.pool);
  const auto at = slices_.try_emplace(name).first;
  PublishedSlice& slice = at->second;
  slice.key = &at->first;
  slice.facts = &facts;
  slice.pool = &pool;
  const auto place = std::upper_bound(pool.slices.begin(), pool.slices.end(), &slice, SliceOrder());
  pool.slices.insert(place, &slice);
  attach(slice);
  mark_stale(pool);
}

void ClusterDeviceIndex::erase_slice(const std::string& name) {
  const auto at = slices_.find(name);
  if (at == slices_.end()) return;
  PublishedSlice& slice = at->second;
  detach(slice);
  forget(slice);
  std::erase(slice.pool->slices, &slice);
  slices_.erase(at);
}

// Most changes of a slice keep its pool and the one node that it names. The former facts may be
// gone, so the new ones are compared with what the index keeps.
bool ClusterDeviceIndex::reaches_the_same(const PublishedSlice& slice,
                                          const ResourceSliceFacts& facts) {
  return facts.reach.kind == NodeReachKind::node && !slice.everywhere && !slice.selects &&
         slice.reached.size() == 1 && slice.reached.front()->name() == facts.reach.node &&
         slice.pool->driver() == facts.driver && slice.pool->name() == facts.pool;
}

// Nothing of the pool may look at the slice before it is derived again. The former facts may be
// gone from memory already: `devices` points into slices and `by_name` is sorted by the names
// there, so both are emptied here. What stays until refresh() is nodes' `places`: intervals of a
// `devices` that is empty now, or of a pool that refresh() erases. They are not read, because each
// question that needs them goes through refresh() first, and rebuild() makes them stale for each
// node that a slice of the pool reaches; detach() has done so for the slice that went.
void ClusterDeviceIndex::forget(PublishedSlice& slice) {
  verdict_bytes_ -= slice.verdicts.size();
  slice.verdicts.clear();
  slice.pool->devices.clear();
  slice.pool->by_name.clear();
  mark_stale(*slice.pool);
}

void ClusterDeviceIndex::attach(PublishedSlice& slice) {
  const ResourceSliceFacts& facts = *slice.facts;
  if (has_selector(facts)) {
    slice.selects = true;
    by_selector_.insert(&slice);
    for (auto& [name, node] : nodes_)
      if (node.facts && reaches_by_selector(facts, node)) connect(slice, node);
  }
  if (facts.reach.kind != NodeReachKind::devices) return attach(slice, facts.reach);
  for (const DeviceFacts& device : facts.devices) attach(slice, reach_of(facts, device));
}

// There are two versions. `places_version_` rises when the places of every node are stale, because
// a slice that reaches all of them came, went or was derived anew; a slice for some nodes sets
// theirs to 0, which it never is. `version_` (count_anew) rises when each node must be counted
// anew: then too, when nodes get other numbers, and when too many of them changed for a list of
// changes. A use or a reservation changes counts but no places, so the second rises, or notes a
// node, without the first.
void ClusterDeviceIndex::attach(PublishedSlice& slice, const NodeReach& reach) {
  if (reach.kind == NodeReachKind::node) attach(slice, node_named(reach.node));
  if (reach.kind != NodeReachKind::all || slice.everywhere) return;
  slice.everywhere = true;
  everywhere_.insert(&slice);
  ++places_version_;
  count_anew();
}

void ClusterDeviceIndex::attach(PublishedSlice& slice, DeviceNode& node) {
  if (std::find(slice.reached.begin(), slice.reached.end(), &node) == slice.reached.end())
    connect(slice, node);
}

void ClusterDeviceIndex::connect(PublishedSlice& slice, DeviceNode& node) {
  slice.reached.push_back(&node);
  node.slices.push_back(&slice);
  node.places_version = 0;
  note_change(node);
}

void ClusterDeviceIndex::detach(PublishedSlice& slice) {
  for (DeviceNode* node : slice.reached) {
    std::erase(node->slices, &slice);
    node->places_version = 0;
    note_change(*node);
    drop_if_unnamed(*node);
  }
  slice.reached.clear();
  if (slice.selects) by_selector_.erase(&slice);
  if (!slice.everywhere || everywhere_.erase(&slice) == 0) return;
  ++places_version_;
  count_anew();
}

void ClusterDeviceIndex::refresh() {
  while (!stale_.empty()) {
    IndexedPool& pool = *stale_.back();
    stale_.pop_back();
    pool.queued = false;
    if (!pool.slices.empty() || !pool.uses.empty()) {
      rebuild(pool);
      continue;
    }
    std::erase(incomplete_everywhere_, &pool);
    std::erase(wide_pools_, &pool);
    free_numbers_.push_back(pool.number);
    pools_.erase(pools_.find(*pool.key));
  }
}

void ClusterDeviceIndex::rebuild(IndexedPool& pool) {
  pool.rebuild(rules_in_force_);
  for (const PublishedSlice* slice : pool.slices) {
    for (DeviceNode* node : slice->reached) node->places_version = 0;
    if (slice->everywhere) ++places_version_;
  }
  note_change(pool);
  list(pool);
}

void ClusterDeviceIndex::list(IndexedPool& pool) {
  const auto keep = [&](std::vector<IndexedPool*>& pools, bool listed) {
    std::erase(pools, &pool);
    if (listed) pools.insert(std::upper_bound(pools.begin(), pools.end(), &pool, in_order), &pool);
  };
  keep(incomplete_everywhere_, !pool.complete() && pool.has_counters);
  keep(wide_pools_, pool.complete() && pool.is_wide);
}

// ---- classes and taint rules ----

void ClusterDeviceIndex::set_class(const std::string& name, const DeviceClassFacts& facts) {
  classes_[name] = &facts;
}

void ClusterDeviceIndex::erase_class(const std::string& name) { classes_.erase(name); }

void ClusterDeviceIndex::set_taint_rule(const std::string& name,
                                        const DeviceTaintRuleFacts& facts) {
  erase_taint_rule(name);
  // In whichever order: taints_of() sorts what the rules add.
  rules_in_force_.push_back(&rules_.insert_or_assign(name, facts).first->second);
  mark_stale(facts);
}

void ClusterDeviceIndex::erase_taint_rule(const std::string& name) {
  const auto at = rules_.find(name);
  if (at == rules_.end()) return;
  mark_stale(at->second);
  std::erase(rules_in_force_, &at->second);
  rules_.erase(at);
}

void ClusterDeviceIndex::mark_stale(const DeviceTaintRuleFacts& rule) {
  if (rule.driver && rule.pool) {
    const auto at = pools_.find(Key{*rule.driver, *rule.pool});
    if (at != pools_.end()) mark_stale(at->second);
    return;
  }
  for (auto& [key, pool] : pools_)
    if ((!rule.driver || *rule.driver == key.first) && (!rule.pool || *rule.pool == key.second))
      mark_stale(pool);
}

const DeviceClassFacts* ClusterDeviceIndex::find_class(const std::string& name) const {
  const auto at = classes_.find(name);
  return at == classes_.end() ? nullptr : at->second;
}

const std::string* ClusterDeviceIndex::class_giving(const std::string& resource) const {
  const std::string* best = nullptr;
  std::int64_t created = 0;
  for (const auto& [name, facts] : classes_) {  // by name, so that the first of an age stays
    if (facts->extended_resource != resource || (best && facts->created <= created)) continue;
    best = &name;
    created = facts->created;
  }
  return best;
}

// ---- nodes ----

DeviceNode& ClusterDeviceIndex::node_named(const std::string& name) {
  const auto at = nodes_.try_emplace(name).first;
  at->second.key = &at->first;
  return at->second;
}

void ClusterDeviceIndex::drop_if_unnamed(DeviceNode& node) {
  if (!node.facts && node.slices.empty()) nodes_.erase(nodes_.find(node.name()));
}

void ClusterDeviceIndex::set_node(const std::string& name, const NodeFacts& facts) {
  DeviceNode& node = node_named(name);
  const bool known = node.facts != nullptr;
  node.facts = &facts;
  known_stale_ = known_stale_ || !known;
  if (known && node.labels == facts.labels) return;
  node.labels = facts.labels;
  compare_selectors(node);
}

void ClusterDeviceIndex::erase_node(const std::string& name) {
  const auto at = nodes_.find(name);
  if (at == nodes_.end() || !at->second.facts) return;
  at->second.facts = nullptr;
  at->second.labels = {};
  known_stale_ = true;
  compare_selectors(at->second);
  drop_if_unnamed(at->second);
}

// A node that is not known is reached only by slices that name it.
void ClusterDeviceIndex::compare_selectors(DeviceNode& node) {
  note_change(node);
  for (PublishedSlice* slice : by_selector_) {
    if (node.facts && reaches_by_selector(*slice->facts, node)) {
      attach(*slice, node);
    } else if (!names_node(*slice->facts, node.name())) {
      std::erase(slice->reached, &node);
      std::erase(node.slices, slice);
    }
  }
  node.places_version = 0;
}

const std::vector<DeviceNode*>& ClusterDeviceIndex::nodes() {
  if (!known_stale_) return known_;
  known_.clear();
  for (auto& [name, node] : nodes_) {
    if (!node.facts) continue;
    node.number = static_cast<std::uint32_t>(known_.size());
    known_.push_back(&node);
  }
  known_stale_ = false;
  count_anew();
  return known_;
}

const std::vector<DevicePlace>& ClusterDeviceIndex::places(DeviceNode& node) {
  refresh();
  if (node.places_version != places_version_) gather_places(node);
  return node.places;
}

void ClusterDeviceIndex::gather_places(DeviceNode& node) {
  std::vector<PublishedSlice*> slices;
  for (PublishedSlice* slice : node.slices)
    if (slice->counts) slices.push_back(slice);
  for (PublishedSlice* slice : everywhere_)
    if (slice->counts) slices.push_back(slice);
  std::sort(slices.begin(), slices.end(), [](const PublishedSlice* a, const PublishedSlice* b) {
    return a->pool == b->pool ? a->name() < b->name() : in_order(a->pool, b->pool);
  });
  // A slice with devices for all nodes and others for this one is in both lists.
  slices.erase(std::unique(slices.begin(), slices.end()), slices.end());
  std::vector<DevicePlace> last;
  node.places.clear();
  for (auto at = slices.begin(); at != slices.end();) {
    IndexedPool* pool = (*at)->pool;
    std::vector<DevicePlace> places;
    if (!pool->complete()) places.push_back({pool, 0, 0});
    for (; at != slices.end() && (*at)->pool == pool; ++at) {
      if (!pool->complete()) continue;
      const auto count = static_cast<std::uint32_t>((*at)->facts->devices.size());
      if ((*at)->facts->reach.kind == NodeReachKind::devices)
        append_runs(**at, node, places);
      else if (count > 0)
        places.push_back({pool, (*at)->first, (*at)->first + count});
    }
    auto& list = std::any_of(places.begin(), places.end(), binds) ? last : node.places;
    list.insert(list.end(), places.begin(), places.end());
  }
  node.places.insert(node.places.end(), last.begin(), last.end());
  node.places.shrink_to_fit();
  node.places_version = places_version_;
}

const std::vector<IndexedPool*>& ClusterDeviceIndex::incomplete_everywhere() {
  refresh();
  return incomplete_everywhere_;
}

const std::vector<IndexedPool*>& ClusterDeviceIndex::wide_pools() {
  refresh();
  return wide_pools_;
}

// ---- uses ----

void ClusterDeviceIndex::set_uses(const std::string& user, std::vector<DeviceUse> uses) {
  replace(users_, &DeviceUses::used, user, std::move(uses));
}

void ClusterDeviceIndex::set_reservation(const std::string& consumer, std::vector<DeviceUse> uses,
                                         std::vector<PluginUse> plugin_uses) {
  replace(consumers_, &DeviceUses::reserved, consumer, std::move(uses));
  replace(consumer, std::move(plugin_uses));
}

// No tally counts amounts of plugins: the search itself looks them up.
void ClusterDeviceIndex::replace(const std::string& consumer, std::vector<PluginUse> uses) {
  if (const auto old = plugin_consumers_.find(consumer); old != plugin_consumers_.end()) {
    for (const PluginUse& use : old->second) {
      const auto at = plugin_reserved_.find({use.node, use.resource});
      if ((at->second -= use.amount) == 0) plugin_reserved_.erase(at);
    }
    plugin_consumers_.erase(old);
  }
  if (uses.empty()) return;
  for (const PluginUse& use : uses) plugin_reserved_[{use.node, use.resource}] += use.amount;
  plugin_consumers_.emplace(consumer, std::move(uses));
}

Int128 ClusterDeviceIndex::plugin_reserved(const std::string& node,
                                           const std::string& resource) const {
  const auto at = plugin_reserved_.find({node, resource});
  return at == plugin_reserved_.end() ? 0 : at->second;
}

void ClusterDeviceIndex::replace(Users& users, UsesOf kind, const std::string& user,
                                 std::vector<DeviceUse> uses) {
  const auto unknown = [&](const DeviceUse& use) {
    return kind == &DeviceUses::used && use.cost == UseCost::unknown;
  };
  const auto old = users.find(user);
  if (old != users.end()) {
    for (const DeviceUse& use : old->second) {
      IndexedPool& pool = pool_of(use.device.driver, use.device.pool);
      if (unknown(use)) --pool.unknown_costs;
      std::erase(pool.uses[use.device.device].*kind, &use);
      pool.link_uses(use.device.device);
      note_change(pool);
      if (pool.uses.empty() && pool.slices.empty()) mark_stale(pool);
    }
    users.erase(old);
  }
  if (uses.empty()) return;
  for (const DeviceUse& use : users[user] = std::move(uses)) {
    IndexedPool& pool = pool_of(use.device.driver, use.device.pool);
    if (unknown(use)) ++pool.unknown_costs;
    // The vector of a user is replaced as a whole, so its elements keep their addresses until then.
    (pool.uses[use.device.device].*kind).push_back(&use);
    pool.link_uses(use.device.device);
    note_change(pool);
  }
}

ClusterDeviceIndex::Pools& ClusterDeviceIndex::pools() {
  refresh();
  return pools_;
}

const Device* ClusterDeviceIndex::find(const DeviceId& device) {
  refresh();
  const auto at = pools_.find(Key{device.driver, device.pool});
  return at == pools_.end() ? nullptr : at->second.find(device.device);
}

const DeviceFacts* ClusterDeviceIndex::published(const DeviceId& device) {
  const Device* found = find(device);
  return found ? &found->facts() : nullptr;
}

bool ClusterDeviceIndex::reaches_node(const Device& device, const DeviceNode& node) const {
  return reaches(reach_of(*device.slice->facts, device.facts()), node.name(), node.labels);
}

std::vector<Taint> ClusterDeviceIndex::taints(const Device& device) const {
  if (!device.tainted) return {};
  return taints_of(*device.slice->facts, device.facts(), rules_in_force_);
}

bool ClusterDeviceIndex::is_used(const Device& device) const {
  return device.uses && !device.uses->used.empty();
}

}  // namespace fairlead
