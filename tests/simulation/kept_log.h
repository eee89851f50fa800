// The log of one replica on a disk that fails: what a process leaves behind when it dies.
//
// It says when an event is durable, which is when the record gets it. What was appended as pending
// and is not durable yet may be lost with the process, from some commit on.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/log/memory_log.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/life.h"

namespace fairlead::simulation {

class KeptLog final : public EventLog {
 public:
  using Acknowledged = std::function<void(const Event&)>;
  /// `faults` outlives it; `name` is the replica's.
  KeptLog(std::string name, Faults& faults, Acknowledged acknowledged)
      : name_(std::move(name)), faults_(faults), acknowledged_(std::move(acknowledged)) {}

  /// A process opens it, after the end of the one before. What is left is durable.
  void open(LifeRef life);

  using LogWriter::append;
  Result<std::vector<Event>> append(std::vector<EventDraft>&& drafts, LogTime time, Epoch epoch,
                                    Durability durability) override;
  Result<void> wait_durable() override;

  Result<void> prune_before(Seq seq) override { return log_->prune_before(seq); }
  Result<void> drop_raw_before(Seq seq) override { return log_->drop_raw_before(seq); }
  Result<std::unique_ptr<EventReader>> read(Seq from) const override { return log_->read(from); }
  Result<Seq> last_at(LogTime time) const override { return log_->last_at(time); }
  Result<std::optional<std::string>> raw(Seq seq) const override { return log_->raw(seq); }
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override {
    return log_->history(source, key);
  }
  Result<std::vector<Seq>> signs(std::string_view source) const override {
    return log_->signs(source);
  }
  Seq first_seq() const override { return log_->first_seq(); }
  Seq last_seq() const override { return log_->last_seq(); }
  LogTime last_time() const override { return log_->last_time(); }
  Digest chain() const override { return log_->chain(); }
  Result<Digest> chain_at(Seq seq) const override { return log_->chain_at(seq); }
  Result<LogStat> stat() const override { return log_->stat(); }
  Result<LogVerdict> verify(const LogProgress& progress = {}) const override {
    return log_->verify(progress);
  }

 private:
  struct Stored {
    std::vector<EventDraft> drafts;
    LogTime time;
    Epoch epoch;
    std::vector<Event> events;  ///< empty once they are durable
  };
  Result<std::vector<Event>> store(std::vector<EventDraft>&& drafts, LogTime time, Epoch epoch);
  void make_durable();

  const std::string name_;
  Faults& faults_;
  const Acknowledged acknowledged_;
  LifeRef life_;
  bool failed_ = false;  // it takes no more until it is opened again
  std::unique_ptr<MemoryLog> log_ = std::make_unique<MemoryLog>();
  std::deque<Stored> commits_;
  std::size_t durable_ = 0;  // of them
};

}  // namespace fairlead::simulation
