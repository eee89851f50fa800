// Node records are scattered over the memory: looked up one by one, each costs the fold several
// cache misses of a hundred nanoseconds, more than the rest of its event. Prefetched together, the
// misses overlap. See docs/decisions/0022-prefetch-of-nodes.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

#include "engine/fold/evolve.h"

namespace fairlead {

namespace {

constexpr std::size_t kLine = 64;
// How much of a node's labels and amounts is prefetched. The rest is read in order, which the
// processor prefetches by itself.
constexpr std::size_t kLabelsBytes = 6 * kLine;
constexpr std::size_t kAmountsBytes = 2 * kLine;
// For a node in State, whose maps mostly rest on shared ones, which are in the cache.
constexpr std::size_t kHeldLabelsBytes = 2 * kLine;
constexpr std::size_t kHeldAmountsBytes = kLine;

struct Sought {
  const Cluster* cluster = nullptr;
  std::size_t hash = 0;  // of the node's name
  bool falls = false;    // the fold may read its flaps
  const NodeRecord* node = nullptr;
};

// Computes addresses, not pointers, because a range may end beyond the object or begin at null.
void fetch(const void* from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  for (std::size_t at = 0; at < bytes; at += kLine)
    __builtin_prefetch(reinterpret_cast<const void*>(begin + at));
}
void fetch_maps(const NodeFacts& facts, std::size_t labels, std::size_t amounts) {
  fetch(facts.labels.address(), labels);
  fetch(facts.allocatable.address(), amounts);
}

}  // namespace

void prefetch(const State& state, std::span<const Event> events) {
  std::array<Sought, kPrefetchEvents> all;
  std::size_t count = 0;
  for (const Event& event : events.first(std::min(events.size(), kPrefetchEvents))) {
    const auto* seen = std::get_if<ObjectObserved>(&event.fact);
    const auto* facts = seen ? std::get_if<NodeFacts>(&seen->facts) : nullptr;
    if (!facts) continue;
    fetch_maps(*facts, kLabelsBytes, kAmountsBytes);
    const auto cluster = state.clusters.find(event.source);
    if (cluster == state.clusters.end()) continue;
    Sought& sought = all[count++];
    sought = {&cluster->second, NameTable<NodeRecord>::hash_of(seen->key.name), !facts->ready};
    sought.cluster->reports.nodes.fetch_slot(sought.hash);
    if (sought.falls) sought.cluster->flaps.fetch_slot(sought.hash);
  }
  const std::span<Sought> nodes = std::span(all).first(count);
  for (Sought& sought : nodes) {
    // Comparing the names would read the entry, a miss of its own. With another node of the same
    // hash the prefetch is wasted, and nothing else happens.
    if (const auto* entry = sought.cluster->reports.nodes.probable(sought.hash)) {
      sought.node = &entry->second;
      fetch(entry, sizeof *entry);
    }
    if (sought.falls)
      if (const auto* flap = sought.cluster->flaps.probable(sought.hash)) fetch(flap, sizeof *flap);
  }
  for (const Sought& sought : nodes)
    if (sought.node) fetch_maps(sought.node->facts, kHeldLabelsBytes, kHeldAmountsBytes);
}

}  // namespace fairlead
