// Facts of the MultiKueue path: taking them in. Internal to the fold.
//
// Taking in keeps records and notes what must be judged; nothing is decided until the moment
// closes (close.h).
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// An object of this path was seen on the hub; other kinds do nothing.
void observe_multikueue(State& state, const ObjectObserved& seen, Seq seq);
/// It is gone.
void forget_multikueue(State& state, const ObjectKey& key, Seq seq);
/// A kind of this path can be read (again). Does nothing if it could be read before.
void observe_readable(State& state, Kind kind, Seq seq);
/// A kind of this path cannot be read any more. Does nothing if that is known.
void observe_unreadable(State& state, Kind kind, Seq seq);

/// The worker list of a Placement is judged when the present moment closes.
void open_list(State& state, const std::string& placement, Seq seq = {});
/// Our write of an object of this path was answered, or may be tried again: look again.
void touch_multikueue(State& state, const ObjectKey& object);
/// A write of an object of this path is on its way.
void expect_multikueue(State& state, const PatchIntended& intent);

/// What stands on the hub of `key`, if State holds it: uid, generation and facts.
struct HeldObject {
  std::string uid;
  std::int64_t generation = 0;
  Facts facts;
};
std::optional<HeldObject> held_multikueue(const State& state, const ObjectKey& key);

}  // namespace fairlead
