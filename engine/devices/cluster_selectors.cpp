// The verdicts of selectors about the devices of a cluster, and how many devices they are true for.
#include <algorithm>

#include "engine/devices/cluster_devices.h"

namespace fairlead {

namespace {

// What is remembered about selectors is dropped when there are more texts than these: classes have
// a few, but each request may bring its own. Fewer are kept where there are many devices, because
// each has a verdict of one byte for each text.
constexpr std::size_t kTextsMax = 1024;
constexpr std::size_t kFewTexts = 64;
constexpr std::size_t kVerdictBytesMax = std::size_t{16} << 20;

// So many lists are counted for each node, at 8 bytes per node and list.
constexpr std::size_t kNodeTalliesMax = 16;

// After so many changes all nodes are counted anew.
constexpr std::size_t kChangesMax = 1024;

}  // namespace

SelectorVerdict ClusterDeviceIndex::ask(const Device& device, std::uint32_t text) {
  PublishedSlice& slice = *device.slice;
  const std::size_t count = slice.facts->devices.size();
  // A row for each text: rows that are filled stay where they are.
  if (slice.verdicts.size() < (text + 1) * count) {
    verdict_bytes_ += (text + 1) * count - slice.verdicts.size();
    slice.verdicts.resize((text + 1) * count);
  }
  std::uint8_t& known = slice.verdicts[text * count + device.index];
  if (known == 0) {
    const auto verdict = lists_.ask(text, slice.facts->driver, device.facts());
    known = static_cast<std::uint8_t>(1 + static_cast<std::uint8_t>(verdict));
  }
  return static_cast<SelectorVerdict>(known - 1);
}

SelectorVerdict ClusterDeviceIndex::verdict(const Device& device, SelectorListId list,
                                            std::size_t& failed) {
  failed = 0;
  for (const std::uint32_t text : lists_.texts(list)) {
    const SelectorVerdict verdict = ask(device, text);
    if (verdict != SelectorVerdict::yes) return verdict;
    ++failed;
  }
  return SelectorVerdict::yes;
}

SelectorVerdict ClusterDeviceIndex::verdict(const Device& device, SelectorListId list) {
  std::size_t failed = 0;
  return verdict(device, list, failed);
}

PoolTally ClusterDeviceIndex::tally(IndexedPool& pool, SelectorListId list, TallyOf of) {
  for (const PoolTally& known : pool.tallies)
    if (known.list == list && known.of == of) return known;
  PoolTally tally;
  tally.list = list;
  tally.of = of;
  for (const Device& device : pool.devices) {
    if (of == TallyOf::not_used_whole && device.used_whole()) continue;
    const SelectorVerdict verdict = this->verdict(device, list);
    tally.has_errors = tally.has_errors || verdict == SelectorVerdict::error;
    tally.yes += verdict == SelectorVerdict::yes ? 1 : 0;
  }
  return pool.tallies.emplace_back(tally);
}

NodeTallies::OfNode ClusterDeviceIndex::tally(DeviceNode& node, SelectorListId list, TallyOf of) {
  NodeTallies::OfNode sum;
  const IndexedPool* pool = nullptr;
  for (const DevicePlace& place : places(node)) {
    if (place.pool == pool || !place.pool->complete()) continue;
    pool = place.pool;
    // The whole pool, of which only a part may reach the node: the number is a bound.
    const PoolTally of_pool = tally(*place.pool, list, of);
    sum.has_errors = sum.has_errors || of_pool.has_errors;
    sum.yes += of_pool.yes;
  }
  return sum;
}

const NodeTallies& ClusterDeviceIndex::node_tallies(SelectorListId list, TallyOf of) {
  refresh();
  const auto& nodes = this->nodes();
  NodeTallies& known = node_tallies_[{list, of}];
  if (known.version != version_) {
    known.nodes.assign(nodes.size(), {});
    for (DeviceNode* node : nodes) known.nodes[node->number] = tally(*node, list, of);
  } else {
    if (known.changes == changed_.size()) return known;
    for (std::size_t i = known.changes; i < changed_.size(); ++i)
      known.nodes[changed_[i]] = tally(*nodes[changed_[i]], list, of);
  }
  known.has_errors = std::any_of(known.nodes.begin(), known.nodes.end(),
                                 [](const auto& node) { return node.has_errors; });
  known.version = version_;
  known.changes = changed_.size();
  return known;
}

void ClusterDeviceIndex::note_change(const IndexedPool& pool) {
  for (const PublishedSlice* slice : pool.slices) {
    if (slice->everywhere) return count_anew();
    for (const DeviceNode* node : slice->reached) note_change(*node);
  }
}

void ClusterDeviceIndex::note_change(const DeviceNode& node) {
  // Where the list of nodes is stale, nodes() will have all of them counted anew; and a node that
  // is not known has no number.
  if (node_tallies_.empty() || known_stale_ || !node.facts) return;
  if (changed_.size() == kChangesMax) return count_anew();
  changed_.push_back(node.number);
}

void ClusterDeviceIndex::count_anew() {
  ++version_;
  changed_.clear();
}

void ClusterDeviceIndex::forget_selectors() {
  if (node_tallies_.size() > kNodeTalliesMax) node_tallies_.clear();
  const std::size_t texts = lists_.text_count();
  if (texts <= kFewTexts || (texts <= kTextsMax && verdict_bytes_ <= kVerdictBytesMax)) return;
  lists_.clear();
  node_tallies_.clear();
  for (auto& [key, pool] : pools_) pool.tallies.clear();
  for (auto& [name, slice] : slices_) slice.verdicts = {};
  verdict_bytes_ = 0;
}

}  // namespace fairlead
