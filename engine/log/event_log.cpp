#include "engine/log/event_log.h"

namespace fairlead {

namespace {

Error behind_damage(const EventLog& log) {
  return {ErrorCode::corrupt, "the log is " + log.damage() + "; only what was until seq " +
                                  std::to_string(log.last_seq().value) + ", before " +
                                  to_rfc3339(log.last_time()) + ", can be told"};
}

}  // namespace

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

Result<void> expect_before_damage(const EventLog& log, Seq seq) {
  if (seq > log.last_seq() && !log.damage().empty()) return behind_damage(log);
  return {};
}

Result<void> expect_before_damage(const EventLog& log, LogTime time) {
  if (time >= log.last_time() && !log.damage().empty()) return behind_damage(log);
  return {};
}

}  // namespace fairlead
