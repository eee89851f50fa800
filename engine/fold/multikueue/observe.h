// Folds the facts of the MultiKueue path. Internal to the fold.
//
// An observation updates records and marks what must be evaluated; nothing is decided until the
// moment closes (close.h).
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// Folds an observation of an object of this path on the hub. Ignores other kinds.
void observe_multikueue(State& state, const ObjectObserved& seen, Seq seq);
/// Removes an object of this path that is gone.
void forget_multikueue(State& state, const ObjectKey& key, Seq seq);
/// Folds that a kind of this path can be read again. Does nothing if it could be read before.
void observe_readable(State& state, Kind kind, Seq seq);
/// Folds that a kind of this path cannot be read any more. Does nothing if that is known.
void observe_unreadable(State& state, Kind kind, Seq seq);

/// Marks the worker list of a Placement, which is evaluated when the present moment closes.
void open_list(State& state, const std::string& placement, Seq seq = {});
/// Marks what depends on our write of an object of this path, because the write was answered or may
/// be tried again.
void touch_multikueue(State& state, const ObjectKey& object);
/// Folds an intent for an object of this path: remembers the list or the source that it writes.
void expect_multikueue(State& state, const PatchIntended& intent);

/// An object of the hub as State holds it; held_multikueue returns nullopt if State does not.
struct HeldObject {
  std::string uid;
  std::int64_t generation = 0;
  Facts facts;
};
std::optional<HeldObject> held_multikueue(const State& state, const ObjectKey& key);

}  // namespace fairlead
