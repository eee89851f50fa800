// The event log: append, read, verify.
//
// The log is the truth. A group commit is durable when append returns, and only then may anyone
// fold it, publish it or act on it. Two implementations: RocksDB (rocksdb_log.h) and memory
// (memory_log.h); both pass the same contract tests.
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

/// Memory for words, used again and again.
class WordBuffer {
 public:
  /// Room for `count` words. What was in it is gone.
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

/// What `log stat` tells. Of a damaged log: of the events before the damage.
struct LogStat {
  Seq first;
  Seq last;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;      ///< on disk (memory: canonical bytes)
  std::uint64_t raw_bytes = 0;  ///< of it, raw objects kept beside events
  LogTime first_time;
  LogTime last_time;
  std::vector<Epoch> epochs;    ///< ascending
  std::string program_version;  ///< of the last epoch
};

/// What `log verify` found.
struct LogVerdict {
  std::uint64_t events = 0;      ///< that were checked
  std::optional<Seq> broken_at;  ///< first seq that does not match; none: the chain holds
  std::string what;              ///< what is wrong there, for a person
};

/// Told now and then how far a walk over a log has come; not at all of a short one. May be empty.
using LogProgress = std::function<void(Seq done, Seq last)>;

/// Events that were read together, for whoever reads many. Their memory is used for the next batch
/// again, and what they hold may view memory of the batch: nothing may be moved out of them, which
/// const sees to; a copy of an event stands alone.
class EventBatch {
 public:
  std::span<const Event> events() const { return std::span(events_).first(count_); }
  std::size_t size() const { return count_; }

  // For readers:
  void clear() { count_ = memory_count_ = 0; }
  /// One more event, which holds whatever it held in a batch before.
  Event& add() {
    if (count_ == events_.size()) events_.emplace_back();
    return events_[count_++];
  }
  void drop_last() { --count_; }
  /// Keeps what events view. Gives memory of an earlier batch for it.
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

/// A batch is full when it holds so many; a group commit is not cut.
inline constexpr std::size_t kBatchEvents = 512;

/// Reads a log in seq order. Not thread safe; sees the log as it was when the reader was made.
class EventReader {
 public:
  virtual ~EventReader() = default;
  /// The next event; nullopt after the last. An error names the seq that cannot be read.
  virtual Result<std::optional<Event>> next() = 0;
  /// The next events instead of what `batch` holds; none after the last. After an error they are
  /// those before what cannot be read.
  virtual Result<void> next_batch(EventBatch& batch);
};

/// A log open for reading, and for writing if it was opened so. Only one thread may append; the
/// other calls may come from any thread at any time. Readers must not outlive the log.
class EventLog {
 public:
  virtual ~EventLog() = default;

  /// Gives `drafts` consecutive seqs, `time` (or the last log_time if that is later) and `epoch`,
  /// and makes them durable as one group commit, with the raw objects of the drafts beside them.
  /// Returns the events as stored. Nothing is stored of no drafts. `bad_input` if a record is
  /// larger than kRecordBytesMax or the commit larger than kCommitBytesMax: nothing is stored.
  /// After a failed sync the log is read-only for good.
  virtual Result<std::vector<Event>> append(std::span<const EventDraft> drafts, LogTime time,
                                            Epoch epoch) = 0;

  /// The same with drafts that are not needed any more: what is in them is moved, not copied. After
  /// `bad_input` they are as they were.
  virtual Result<std::vector<Event>> append_owned(std::vector<EventDraft>&& drafts, LogTime time,
                                                  Epoch epoch) {
    return append(drafts, time, epoch);
  }

  /// As append_owned, but the commit may still be on its way when this returns, so that the caller
  /// makes the next group ready while the disk is waited for. The events are what is going to be
  /// stored; nothing of them may be shown or acted on before settle() said that they are. A few
  /// commits are on their way at most, one behind the other: none is written before the one before
  /// it is durable, nor after one that failed. Until one is stored, readers and last_seq() do not
  /// know of it.
  virtual Result<std::vector<Event>> append_ahead(std::vector<EventDraft>&& drafts, LogTime time,
                                                  Epoch epoch) {
    return append_owned(std::move(drafts), time, epoch);
  }
  /// Waits until everything that was appended is durable. The error if it is not: then the log is
  /// read-only.
  virtual Result<void> settle() { return {}; }

  /// Reads from `from` to the last event; from the first that is kept if `from` is 0. `gone`,
  /// naming the first that is kept, if `from` was pruned.
  virtual Result<std::unique_ptr<EventReader>> read(Seq from) const = 0;
  /// Seq of the last event whose log_time is not later than `time`; 0 if every event is later.
  /// `gone` if only events that were pruned can be meant.
  virtual Result<Seq> last_at(LogTime time) const = 0;
  /// The raw object kept beside event `seq`; nullopt if none was given or its retention is over.
  virtual Result<std::optional<std::string>> raw(Seq seq) const = 0;
  /// Forgets the raw objects kept beside events before `seq`. The events themselves stay.
  virtual Result<void> drop_raw_before(Seq seq) = 0;
  /// Seqs of the events about one object, ascending (ObjectObserved, ObjectGone, PatchIntended).
  /// `source` is the API server that holds it; of an intent that is the target cluster.
  virtual Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const = 0;

  /// Seqs of the events by which one can tell when `source` was not listened to, ascending (see
  /// is_sign).
  virtual Result<std::vector<Seq>> signs(std::string_view source) const = 0;

  /// Seq of the first event that is kept: 1 until something was pruned. Of a log that keeps no
  /// event it is the one after last_seq().
  virtual Seq first_seq() const = 0;
  virtual Seq last_seq() const = 0;
  virtual LogTime last_time() const = 0;
  /// Digest of the hash chain after the last group commit.
  virtual Digest chain() const = 0;
  /// Digest of the hash chain after the group commit that ends with `seq`; before the first commit
  /// that is kept for the seq before it (zeros for 0). `not_found` if no commit ends there.
  virtual Result<Digest> chain_at(Seq seq) const = 0;
  virtual Result<LogStat> stat() const = 0;
  /// Recomputes the chain and every record's bytes from the first event that is kept.
  virtual Result<LogVerdict> verify() const = 0;
  /// Whether every group commit is what was written and continues the one before it: what `verify`
  /// says without looking at the records inside, many times faster.
  virtual Result<LogVerdict> verify_chain() const { return verify(); }
  /// What is wrong with a log that was opened for reading, naming the seq; empty if it is whole.
  /// What lies behind the damage is not seen: last_seq() is what can be read.
  virtual std::string damage() const { return {}; }
};

/// What somebody who meets damage can do; ends a message.
inline constexpr const char* kDamageAdvice =
    "Keep a copy of the data directory and restore the log from an export or a backup: "
    "docs/operating.md, \"The log is damaged\"";

/// Whether an event is a sign of its source: that it is heard, silent or lost, and of kSelf that a
/// hub started, or with another configuration.
bool is_sign(const Event& event);

/// What is meant by the end of the log: of a damaged one it lies behind what can be read.
Seq end_of(const EventLog& log);
/// `corrupt`, naming the damage and what can be asked for, if a question about this event or this
/// moment would be answered without what lies behind the damage.
Result<void> expect_before_damage(const EventLog& log, const std::variant<Seq, LogTime>& place);

}  // namespace fairlead
