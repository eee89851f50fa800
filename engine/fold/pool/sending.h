// Which objects of tenants are to be written now.
#pragma once

#include "engine/fold/deadlines.h"
#include "engine/fold/dirty_set.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Whether a write of the object could be sent now. Where only the write interval holds it back,
/// the object is looked at again when the interval ends.
bool may_send(PoolRoom state, const WriteKeyView& view, const PoolPodKey& key);
/// Marks a pod that is to be written.
void recompute_pod(PoolRoom state, const PoolPodKey& key, DirtySet& dirty);

}  // namespace fairlead
