// What streams said, made ready for the log.
//
// Ingest compares with State, and State follows the log; so one group commit may not hold two facts
// of one object or one stream. Here facts are cut into such batches, and a burst of one object
// shrinks to its newest state.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/fold/state.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// More facts are not appended together.
inline constexpr std::size_t kBatchFactsMax = 512;

/// `facts`, in order, in batches of at most `batch_max` that hold no object and no stream twice. A
/// state of an object that a newer one of the same uid follows in the same batch is left out.
std::vector<std::vector<WatchFact>> into_batches(std::vector<WatchFact> facts,
                                                 std::size_t batch_max);

/// How an operator calls an object: "LocalQueue team/main".
std::string name_of(const ObjectKey& key);

/// Every object of `kind` that State holds of the API server `source`, in order.
std::vector<ObjectKey> objects_held(const State& state, const SourceName& source, Kind kind);

}  // namespace fairlead
