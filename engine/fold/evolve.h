// The fold: events in, State out.
//
// Before the first event of time t is folded, the present moment closes and every internal deadline
// before t runs, in (time, key) order; a deadline at t runs after the events of time t. So a moment
// is decided once all that happened at it is known, and the same log gives the same State however
// it was cut into batches.
#pragma once

#include <cstddef>
#include <span>

#include "engine/fold/close.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Changes whenever the same events would fold to another State or other intents.
inline constexpr std::uint32_t kFoldVersion = 31;

/// Folds one event into `state` and adds what it changed to `dirty`. Aborts if events do not come
/// in seq order or log time goes back.
void evolve(State& state, const Event& event, DirtySet& dirty);

/// The number of events for which prefetch prefetches at once.
inline constexpr std::size_t kPrefetchEvents = 16;

/// Prefetches the memory that the fold of the first kPrefetchEvents `events` will read. A caller
/// that knows the next events calls it before each kPrefetchEvents of them: their cache misses then
/// overlap, where evolve would wait for one after the other. Changes nothing.
void prefetch(const State& state, std::span<const Event> events);

/// Advances to `time` without events: runs every deadline up to it and closes the moment. `time` is
/// not earlier than state.now.
void run_until(State& state, LogTime time, DirtySet& dirty);

}  // namespace fairlead
