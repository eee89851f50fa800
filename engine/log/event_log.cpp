#include "engine/log/event_log.h"

namespace fairlead {

Result<void> EventReader::next_batch(EventBatch& batch) {
  batch.clear();
  while (batch.size() < kBatchEvents) {
    auto event = next();
    if (!event) return event.error();
    if (!*event) break;
    batch.add() = std::move(**event);
  }
  return {};
}

}  // namespace fairlead
