// Node records are scattered over the memory: looked up one by one, each costs the fold several
// cache misses of a hundred nanoseconds, more than the rest of its event. Each miss needs the
// address that the one before it yields: the slot of the name, the record, its labels and amounts.
// So an event passes three stages, kStageEvents folds apart, and between two of them its memory
// arrives. See docs/decisions/0046-prefetch-in-stages.md.
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
constexpr std::size_t kEventBytes = 5 * kLine;
// The folds between two stages: longer than a miss takes, and few enough that what was prefetched
// is still in the first-level cache when it is read.
constexpr std::size_t kStageEvents = kPrefetchEvents / 4;

// gcc takes a function that only prefetches for one without effects and drops its calls, so all of
// these are inlined.

// Computes addresses, not pointers, because a range may end beyond the object or begin at null.
[[gnu::always_inline]] inline void fetch(const void* from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  for (std::size_t at = 0; at < bytes; at += kLine)
    __builtin_prefetch(reinterpret_cast<const void*>(begin + at));
}
[[gnu::always_inline]] inline void fetch_maps(const NodeFacts& facts) {
  fetch(facts.labels.address(), kLabelsBytes);
  fetch(facts.allocatable.address(), kAmountsBytes);
}
// Another thread has just written the event. Its facts are near its begin, and which fact it has is
// told at its end.
[[gnu::always_inline]] inline void fetch_event(const Event& event) {
  fetch(&event, kEventBytes);
  fetch(reinterpret_cast<const char*>(&event + 1) - 1, 1);
}

struct Sought {
  const Cluster* cluster = nullptr;  // null: the event reports no node of a known cluster
  const NodeFacts* facts = nullptr;  // as the event reports them
  std::size_t hash = 0;              // of the node's name
};

// Looked up again in each stage: the folds between them may erase what was found.
Sought sought_by(const State& state, const Event& event) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  const auto* facts = seen ? std::get_if<NodeFacts>(&seen->facts) : nullptr;
  if (!facts) return {};
  const auto cluster = state.clusters.find(event.source);
  if (cluster == state.clusters.end()) return {};
  return {&cluster->second, facts, NameTable<NodeRecord>::hash_of(seen->key.name)};
}

[[gnu::always_inline]] inline void fetch_slots(const State& state, const Event& event) {
  const Sought sought = sought_by(state, event);
  if (!sought.cluster) return;
  sought.cluster->reports.nodes.fetch_slot(sought.hash);
  if (!sought.facts->ready) sought.cluster->flaps.fetch_slot(sought.hash);  // may be read
}
[[gnu::always_inline]] inline void fetch_records(const State& state, const Event& event) {
  const Sought sought = sought_by(state, event);
  if (!sought.cluster) return;
  fetch_maps(*sought.facts);
  if (const auto* node = sought.cluster->reports.nodes.probable(sought.hash))
    fetch(node, sizeof *node);
  if (sought.facts->ready) return;
  if (const auto* flap = sought.cluster->flaps.probable(sought.hash)) fetch(flap, sizeof *flap);
}
[[gnu::always_inline]] inline void fetch_known_maps(const State& state, const Event& event) {
  const Sought sought = sought_by(state, event);
  if (!sought.cluster) return;
  if (const auto* node = sought.cluster->reports.nodes.probable(sought.hash))
    fetch_maps(node->second.facts);
}

}  // namespace

void prefetch(const State& state, std::span<const Event> events) {
  if (events.size() > 4 * kStageEvents) fetch_event(events[4 * kStageEvents]);
  if (events.size() > 3 * kStageEvents) fetch_slots(state, events[3 * kStageEvents]);
  if (events.size() > 2 * kStageEvents) fetch_records(state, events[2 * kStageEvents]);
  if (events.size() > kStageEvents) fetch_known_maps(state, events[kStageEvents]);
}

}  // namespace fairlead
