// How far apart the writes of one object are.
#pragma once

#include "engine/fold/deadlines.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

/// Returns the write interval in force for an object: the longest that the claims which feed it
/// set.
Duration write_interval(TermsReader state, const WriteKeyView& key);
/// Whether the kind is of the MultiKueue path, which has no write interval: windows of its own keep
/// it from thrashing.
bool has_own_windows(Kind kind);

}  // namespace fairlead
