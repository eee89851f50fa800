// Folds what watches report of objects: by the rule of its kind, which is in a list here, or as it
// is observed.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Folds an observation of the object `key` of the API server `source`, or its end where `seen` is
/// null. Kinds that are not read from that server are ignored.
void fold_object(State& state, const SourceName& source, const ObjectKey& key,
                 const ObjectObserved* seen, Seq seq);

}  // namespace fairlead
