// A log in memory: for plans, simulations and tests.
//
// It stores and chains the same as the RocksDB log, and its contents end with the process.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "engine/log/commit.h"
#include "engine/log/event_log.h"

namespace fairlead {

class MemoryLog final : public EventLog {
 public:
  MemoryLog();
  ~MemoryLog() override;

  using LogWriter::append;
  Result<std::vector<Event>> append(std::vector<EventDraft>&& drafts, LogTime time, Epoch epoch,
                                    Durability durability) override;
  Result<std::unique_ptr<EventReader>> read(Seq from) const override;
  Result<Seq> last_at(LogTime time) const override;
  Result<std::optional<std::string>> raw(Seq seq) const override;
  Result<void> drop_raw_before(Seq seq) override;
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override;
  Result<std::vector<Seq>> signs(std::string_view source) const override;
  Seq first_seq() const override;
  Seq last_seq() const override;
  LogTime last_time() const override;
  Digest chain() const override;
  Result<Digest> chain_at(Seq seq) const override;
  Result<LogStat> stat() const override;
  Result<LogVerdict> verify(const LogProgress& progress = {}) const override;

 private:
  friend class MemoryReader;
  struct StoredCommit {
    std::size_t first = 0;  ///< index of its first event
    std::size_t count = 0;
    Digest digest;
  };

  mutable std::mutex mutex_;
  std::deque<Event> events_;  ///< events never move: a reader holds references while others append
  std::vector<StoredCommit> commits_;
  std::map<std::tuple<SourceName, ObjectKey>, std::vector<Seq>> by_object_;
  std::map<SourceName, std::vector<Seq>> signs_;
  std::map<Seq, std::string> raw_;
  std::uint64_t bytes_ = 0;
  LogTail tail_;
};

}  // namespace fairlead
