// Reads events on a thread of its own, so that decoding and folding share the work of two cores.
//
// The order and the events are those of the reader behind it: only when they are read differs.
#pragma once

#include <memory>

#include "engine/log/event_log.h"

namespace fairlead {

/// How many batches wait at most.
inline constexpr std::size_t kReadAheadBatchesMax = 8;

/// Reads all that is behind `reader`, a few batches ahead of whoever asks; who takes whole batches
/// takes them without a copy. The log that it reads
/// must outlive it; destroying it ends the thread.
std::unique_ptr<EventReader> read_ahead(std::unique_ptr<EventReader> reader);

}  // namespace fairlead
