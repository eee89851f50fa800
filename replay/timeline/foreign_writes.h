// Which observations show that another writer changed a quota, or where a tenant's slices and pods
// are placed.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Returns whether `seen`, of `source`, shows a value that is neither the one before it nor one of
/// our last write: quotas of a ClusterQueue, placements of a Namespace, or the super cluster of a
/// Pod. What is seen for the first time was not changed. `before` is the state before the event.
bool is_foreign_write(const State& before, const SourceName& source, const ObjectObserved& seen);

}  // namespace fairlead
