// A log that fails at a test's command.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/log/memory_log.h"

namespace fairlead {

// A memory log that refuses every append while `full`, and any record of the object `too_large`.
class StubbornLog : public EventLog {
 public:
  using LogWriter::append;
  Result<std::vector<Event>> append(std::vector<EventDraft>&& drafts, LogTime time, Epoch epoch,
                                    Durability durability) override {
    if (full) return Error{ErrorCode::read_only, "no space left on device"};
    for (const EventDraft& draft : drafts)
      if (const auto* seen = std::get_if<ObjectObserved>(&draft.fact);
          seen && seen->key.name == too_large)
        return Error{ErrorCode::bad_input, "the record is too large"};
    return log.append(std::move(drafts), time, epoch, durability);
  }
  Result<std::unique_ptr<EventReader>> read(Seq from) const override { return log.read(from); }
  Result<Seq> last_at(LogTime time) const override { return log.last_at(time); }
  Result<std::optional<std::string>> raw(Seq seq) const override { return log.raw(seq); }
  Result<void> prune_before(Seq seq) override { return log.prune_before(seq); }
  Result<void> drop_raw_before(Seq seq) override { return log.drop_raw_before(seq); }
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override {
    return log.history(source, key);
  }
  Result<std::vector<Seq>> signs(std::string_view source) const override {
    return log.signs(source);
  }
  Seq first_seq() const override { return log.first_seq(); }
  Seq last_seq() const override { return log.last_seq(); }
  LogTime last_time() const override { return log.last_time(); }
  Digest chain() const override { return log.chain(); }
  Result<Digest> chain_at(Seq seq) const override { return log.chain_at(seq); }
  Result<LogStat> stat() const override { return log.stat(); }
  Result<LogVerdict> verify(const LogProgress& progress) const override {
    return log.verify(progress);
  }

  MemoryLog log;
  bool full = false;
  std::string too_large;
};

}  // namespace fairlead
