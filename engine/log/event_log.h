// The event log: append, read, verify.
//
// The log is the truth: a caller publishes a group commit, or acts on it, only once it is durable.
// Each job is a contract of its own: to write, to drop what is no longer needed, and, in
// log_reader.h, to read and to find events by what they are about. Two implementations have all of
// them and pass the same contract tests: RocksDB (rocksdb_log.h) and memory (memory_log.h). The
// events of a bundle (replay/bundle/bundle.h) can be read alone.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/durability.h"
#include "engine/log/log_reader.h"

namespace fairlead {

/// Appends events. Its functions belong to one thread.
class LogWriter {
 public:
  virtual ~LogWriter() = default;

  /// Gives `drafts`, whose contents it moves out, consecutive seqs, `time` (or the last log_time if
  /// that is later) and `epoch`, and stores them as one group commit, with the raw objects of the
  /// drafts beside them. Returns the events as stored; no drafts append nothing. Fails with
  /// `bad_input`, stores nothing and leaves `drafts` as they are, if a record exceeds
  /// kRecordBytesMax or the commit kCommitBytesMax. After a failed write or sync the log is
  /// read-only: every append fails until the log is opened again.
  ///
  /// A `pending` append may return before the commit is durable, so that the caller prepares the
  /// next group while the disk works (docs/decisions/0018-pipelined-append.md). The caller may fold
  /// its events, but must not publish or act on them before wait_durable() succeeded. Commits are
  /// written in order, none before its predecessor is durable and none after a failed one, and only
  /// a few are pending at a time: the call blocks until there is room. Readers do not see a commit
  /// before it is stored.
  virtual Result<std::vector<Event>> append(std::vector<EventDraft>&& drafts, LogTime time,
                                            Epoch epoch, Durability durability) = 0;
  /// Waits until everything that was appended is durable. Returns the error of the commit that
  /// failed, if one did; the log is read-only then.
  virtual Result<void> wait_durable() { return {}; }

  /// Begins to append as append() does. Returns nullopt if the outcome is not known yet, as where
  /// servers far away have to store it: then nothing else may be begun, and nothing may be folded,
  /// before settled() returned it. Such a log stores each commit before it is known, whatever the
  /// durability, and may cut the drafts into several commits of one time.
  virtual Result<std::optional<std::vector<Event>>> begin(std::vector<EventDraft>&& drafts,
                                                          LogTime time, Epoch epoch,
                                                          Durability durability) {
    auto events = append(std::move(drafts), time, epoch, durability);
    if (!events) return events.error();
    return std::optional(*std::move(events));
  }
  /// Returns the outcome of the append that was begun: its events, nullopt while it is under way.
  /// Fails with `conflict` if another leader has appended: this one leads no more.
  virtual Result<std::optional<std::vector<Event>>> settled() {
    return std::optional<std::vector<Event>>();
  }
  /// Returns how long facts should wait before the next begin(), so that their group grows
  /// meanwhile. What follows from stored events need not wait: it lengthens later pauses.
  virtual Duration pause() { return {}; }
  /// Whether nothing at all may be begun at present.
  virtual bool on_hold() const { return false; }
  /// Waits for that outcome, at most `span`.
  virtual void await_settled(Duration span) { static_cast<void>(span); }

  /// Appends copies of `drafts`, durably.
  Result<std::vector<Event>> append(std::span<const EventDraft> drafts, LogTime time, Epoch epoch) {
    return append(std::vector(drafts.begin(), drafts.end()), time, epoch, Durability::durable);
  }
};

/// Drops what is no longer needed. On the writer's thread.
class LogRetention {
 public:
  virtual ~LogRetention() = default;
  /// Deletes the group commits whose events all lie before `seq`, durably, with what is kept beside
  /// them. The kept events can be verified as before, because the digest that the first kept commit
  /// continues stays. The caller ensures that a snapshot replaces the deleted events. A reader that
  /// was made before may end with an error.
  virtual Result<void> prune_before(Seq seq) = 0;
  /// Deletes the raw objects kept beside events before `seq`, durably. The events stay.
  virtual Result<void> drop_raw_before(Seq seq) = 0;
};

/// The log of a hub, open for reading, and for writing if it was opened so.
class EventLog : public ReadableLog, public LogWriter, public LogRetention {};

}  // namespace fairlead
