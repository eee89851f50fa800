// Watch facts, cut into batches that may be one group commit each.
//
// Ingest compares a fact with State, and State changes only when a commit is folded; so one commit
// may not hold two facts of one object or one stream. A burst of one object shrinks to its newest
// state.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// More facts are not appended together to a local log.
inline constexpr std::size_t kBatchFactsMax = 512;
/// The same where commits are paced (engine/log/replicated/ring_pace.h). Five commits a second with
/// 512 facts do not carry 1,000 events a second, because intents and outcomes are commits, too. The
/// log makes several commits of what is too large for one.
inline constexpr std::size_t kPacedBatchFactsMax = 2048;

/// Cuts `facts`, in order, into batches of at most `batch_max` that hold no object and no stream
/// twice. A state of an object is left out if a newer one of the same uid follows in its batch.
std::vector<std::vector<WatchFact>> into_batches(std::vector<WatchFact> facts,
                                                 std::size_t batch_max);

}  // namespace fairlead
