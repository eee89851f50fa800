// A log in memory: for plans, simulations and tests.
//
// It stores and chains the same as the RocksDB log, and its contents end with the process.
#pragma once

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
  Result<void> prune_before(Seq seq) override;
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
  const Event& at(Seq seq) const { return events_[seq.value - base_.last.value - 1]; }
  void forget_seqs_before(Seq first);

  mutable std::mutex mutex_;
  LogTail base_;              ///< where the pruned events ended
  std::deque<Event> events_;  ///< events never move: a reader holds references while others append
  std::deque<LogTail> commits_;  ///< where each ends
  std::map<std::tuple<SourceName, ObjectKey>, std::vector<Seq>> by_object_;
  std::map<SourceName, std::vector<Seq>> signs_;
  std::map<Seq, std::string> raw_;
  std::map<Epoch, std::string> versions_;  ///< of the programs, by kept epoch
  std::uint64_t bytes_ = 0;                ///< canonical, of the kept events
  LogTail tail_;
};

}  // namespace fairlead
