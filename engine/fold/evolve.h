// The fold: events in, State out.
//
// Before an event at time t is handled, the present moment closes and every internal deadline
// before t runs, in (time, key) order; a deadline at t is decided after every event of time t. So a
// moment is decided once all that happened at it is known, and the same log gives the same State
// however it was cut into batches.
#pragma once

#include <cstddef>
#include <span>

#include "engine/fold/state.h"

namespace fairlead {

/// Changes whenever the same events would fold to another State or other intents.
inline constexpr std::uint32_t kFoldVersion = 12;

/// Folds one event into `state` and adds what it changed to `touched`. Events come in seq order.
void evolve(State& state, const Event& event, Touched& touched);

/// For how many events memory is fetched at once.
inline constexpr std::size_t kFetchAhead = 16;

/// For whoever knows the events that come next, before each kFetchAhead of them: lets what their
/// fold will look at come towards the processor, of all at once, where evolve would wait for one
/// after the other. Changes nothing.
void fetch_ahead(const State& state, std::span<const Event> events);

/// Decides the present moment. Nothing else may then happen at it but our own writes and what comes
/// back of them.
void settle(State& state, Touched& touched);

/// Time passes until `time` and nothing else happens: every deadline up to it runs. Afterwards the
/// moment is decided. `time` is not earlier than state.now.
void run_until(State& state, LogTime time, Touched& touched);

}  // namespace fairlead
