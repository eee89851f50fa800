// Reads events on a thread of its own, so that decoding and folding share the work of two cores.
//
// It gives the underlying reader's events in their order.
#pragma once

#include <memory>

#include "engine/log/event_log.h"

namespace fairlead {

/// The largest number of batches that wait to be consumed.
inline constexpr std::size_t kReadAheadBatchesMax = 8;

/// Returns a reader that prefetches from `reader`, up to kReadAheadBatchesMax batches ahead of its
/// caller. next_batch() hands a batch over without a copy. The log must outlive the reader, whose
/// destructor ends the thread.
std::unique_ptr<EventReader> read_ahead(std::unique_ptr<EventReader> reader);

}  // namespace fairlead
