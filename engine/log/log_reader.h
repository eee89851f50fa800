// Reading a log: its events in order, its chain, and the index of its objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/result.h"
#include "schema/event.h"

namespace fairlead {

/// A reusable buffer of 8-byte words that grows and never shrinks.
class WordBuffer {
 public:
  /// Returns room for `count` words, uninitialised. The earlier contents are lost.
  std::uint64_t* room_for(std::size_t count) {
    if (count > capacity_) {
      words_ = std::make_unique_for_overwrite<std::uint64_t[]>(count);
      capacity_ = count;
    }
    return words_.get();
  }

 private:
  std::unique_ptr<std::uint64_t[]> words_;
  std::size_t capacity_ = 0;
};

/// What `log stat` reports. For a damaged log it covers the events before the damage.
struct LogStat {
  Seq first;
  Seq last;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;      ///< on disk (memory: canonical bytes)
  std::uint64_t raw_bytes = 0;  ///< the part of `bytes` that raw objects use
  LogTime first_time;
  LogTime last_time;
  std::vector<Epoch> epochs;    ///< ascending
  std::string program_version;  ///< of the last epoch
};

/// What `log verify` found.
struct LogVerdict {
  std::uint64_t events = 0;      ///< number of events that were checked
  std::optional<Seq> broken_at;  ///< first seq that does not match; none: the chain holds
  std::string what;              ///< the fault at `broken_at`, in words for the operator
};

/// Receives the progress of a long walk over a log, a few times a second; a short walk reports
/// nothing. May be empty.
using LogProgress = std::function<void(Seq done, Seq last)>;

/// Reports the progress of a walk over commits, each of which costs little.
class PacedProgress {
 public:
  /// `report`, which may be empty, outlives it.
  explicit PacedProgress(const LogProgress& report) : report_(report) {}
  void reached(Seq done, Seq last) {
    constexpr std::uint64_t kCommitsBetween = 64;
    if (report_ && ++commits_ % kCommitsBetween == 0) report_(done, last);
  }

 private:
  const LogProgress& report_;
  std::uint64_t commits_ = 0;
};

/// Events that were read together. The next batch reuses their memory, and their texts may view
/// memory of the batch, so nothing may be moved out of them: events() is const for that reason. A
/// copy of an event owns its memory.
class EventBatch {
 public:
  std::span<const Event> events() const { return std::span(events_).first(count_); }
  std::size_t size() const { return count_; }

  // For readers:
  void clear() { count_ = memory_count_ = 0; }
  /// Adds an event and returns it with the stale contents of an earlier batch.
  Event& add() {
    if (count_ == events_.size()) events_.emplace_back();
    return events_[count_++];
  }
  void drop_last() { --count_; }
  /// Keeps `words`, which events of the batch view, and returns the buffer of an earlier batch in
  /// it.
  void keep(WordBuffer& words) {
    if (memory_count_ == memory_.size()) memory_.emplace_back();
    std::swap(memory_[memory_count_++], words);
  }

 private:
  std::vector<Event> events_;  ///< the first `count_` are of this batch
  std::size_t count_ = 0;
  std::vector<WordBuffer> memory_;  ///< the first `memory_count_` are viewed
  std::size_t memory_count_ = 0;
};

/// A batch is full when it holds this many events. A reader may exceed it so as not to split a
/// group commit.
inline constexpr std::size_t kBatchEvents = 512;

/// Reads a log in seq order, up to the event that was the last when the reader was made. Not
/// thread safe.
class EventReader {
 public:
  virtual ~EventReader() = default;
  /// Returns the next event; nullopt after the last. An error names the seq that cannot be read.
  virtual Result<std::optional<Event>> next() = 0;
  /// Replaces the contents of `batch` by the next events; by none after the last. After an error
  /// `batch` holds the events before the unreadable one.
  virtual Result<void> next_batch(EventBatch& batch);
};

/// A log as a chain of events. Its functions may be called from any thread at any time. Readers
/// must not outlive the log.
class LogReader {
 public:
  virtual ~LogReader() = default;

  /// Returns a reader from `from` to the last event, or from the first kept event if `from` is 0.
  /// Fails with `gone`, naming the first kept event, if `from` was pruned.
  virtual Result<std::unique_ptr<EventReader>> read(Seq from) const = 0;
  /// Returns the seq of the last event whose log_time is not later than `time`; 0 if every event is
  /// later. Fails with `gone` if that event was pruned.
  virtual Result<Seq> last_at(LogTime time) const = 0;

  /// Returns the seq of the first kept event: 1 until events are pruned, and the seq after
  /// last_seq() if no event is kept.
  virtual Seq first_seq() const = 0;
  virtual Seq last_seq() const = 0;
  virtual LogTime last_time() const = 0;
  /// Returns the digest of the hash chain after the last group commit.
  virtual Digest chain() const = 0;
  /// Returns the digest of the hash chain after the group commit that ends with `seq`. For the seq
  /// before the first kept event it is the digest that the first kept commit continues (zeros for
  /// seq 0). Fails with `not_found` if no commit ends there.
  virtual Result<Digest> chain_at(Seq seq) const = 0;
  virtual Result<LogStat> stat() const = 0;
  /// Recomputes the chain and every record's bytes from the first event that is kept.
  virtual Result<LogVerdict> verify(const LogProgress& progress = {}) const = 0;
  /// Checks that every group commit is what was written and continues the one before it. Does not
  /// decode the records inside, which makes it many times faster than verify().
  virtual Result<LogVerdict> verify_chain() const { return verify(); }
  /// Returns the fault of a damaged log that was opened for reading, naming the seq; empty if the
  /// log is whole. Events behind the damage are not readable: last_seq() is the last before it.
  virtual std::string damage() const { return {}; }
};

/// The events of a log by what they are about. From any thread, as LogReader.
class LogHistory {
 public:
  virtual ~LogHistory() = default;

  /// Returns the seqs of the kept events about one object, ascending (ObjectObserved, ObjectGone,
  /// PatchIntended). `source` is the API server that holds the object: for an intent the target
  /// cluster.
  virtual Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const = 0;
  /// Returns the newest `most` of these before `before`, ascending, without a search of the rest.
  virtual Result<std::vector<Seq>> history_before(std::string_view source, const ObjectKey& key,
                                                  Seq before, std::size_t most) const;
  /// Returns the seqs of the signs of `source`, ascending (is_sign): they delimit the times in
  /// which it was not observed.
  virtual Result<std::vector<Seq>> signs(std::string_view source) const = 0;
  /// Returns the raw object kept beside event `seq`; nullopt if none was appended or it was
  /// dropped.
  virtual Result<std::optional<std::string>> raw(Seq seq) const = 0;
};

/// What questions about the past are asked of: the log of a hub, or the events of a bundle.
class ReadableLog : public LogReader, public LogHistory {};

/// Advice to the operator of a damaged log; ends a message.
inline constexpr const char* kDamageAdvice =
    "Keep a copy of the data directory and restore the log from an export or a backup: "
    "docs/operating.md, \"The log is damaged\"";

/// Returns whether an event is a sign of its source: that the source is in sync, stale or lost, or,
/// from kSelf, that a hub started or its configuration changed.
bool is_sign(const Event& event);

/// Returns the seq that "the end of the log" means to a caller: the last event of a whole log, the
/// seq after the last readable event of a damaged one, so that a question about the end meets
/// expect_before_damage().
Seq end_of(const LogReader& log);
/// Fails with `corrupt`, naming the damage and what can still be asked, if the answer to a question
/// about this event or this log time depends on events behind the damage.
Result<void> expect_before_damage(const LogReader& log, const std::variant<Seq, LogTime>& place);

}  // namespace fairlead
