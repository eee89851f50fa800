// Folds the facts of the MultiKueue path. Internal to the fold.
//
// An observation updates records and marks what must be evaluated; nothing is decided until the
// moment closes (close.h).
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// Folds an observation of an object of this path on the hub, or its end where `seen` is null.
/// Ignores other kinds.
void observe_multikueue(State& state, const ObjectKey& key, const ObjectObserved* seen, Seq seq);
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

}  // namespace fairlead
