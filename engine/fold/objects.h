// Folds what watches report of objects: each kind has one place here, which calls its rule.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Folds an observation of the object `key` of the API server `source`, or its end where `seen` is
/// null. Kinds that are not read from that server are ignored.
void fold_object(State& state, const SourceName& source, const ObjectKey& key,
                 const ObjectObserved* seen, Seq seq);

}  // namespace fairlead
