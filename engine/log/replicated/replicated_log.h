// A log whose commits are stored by the servers of a ring before they count, with a local copy.
//
// A commit that the ring has stored is written to the local RocksDB, and only then is it known: so
// what is folded, published, sent or answered is in every later log. Readers read the local copy,
// which holds all of the log and not only the ring's window.
//
// It follows, or it appends: who may append is said by a Lease, and enforced by the ring. Nothing
// is folded before it is stored, so a leader that is fenced holds exactly what the log says, and
// follows from there.
//
// Two threads meet here: the caller's (the hub's), and the one of the CommitStore, on which the
// local copy is written. Both may be one, as in virtual time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/log/replicated/ring.h"
#include "engine/log/replicated/ring_pace.h"
#include "engine/log/rocksdb/rocksdb_log.h"

namespace fairlead {

/// How a ReplicatedLog reaches others.
struct ReplicatedLogPorts {
  /// Runs work soon on the store's thread.
  std::function<void(std::function<void()>)> post;
  /// Something changed that settled(), state() or last_seq() tells: look. From the store's thread.
  std::function<void()> wake;
  /// Says one line to an operator. From the store's thread.
  std::function<void(std::string)> say;
  /// Returns a monotonic time. From any thread.
  std::function<LogTime()> now;
  /// Has the store's thread go on, where it is the caller's, as in virtual time. Empty: it does so
  /// by itself.
  std::function<void()> pump{};
};

/// What a ReplicatedLog does, as it was last.
struct ReplicatedLogState {
  RingPlace place;
  RingCounters counters;
  std::uint64_t end_reached = 0;        ///< the last read_on() that has ended
  std::string trouble;                  ///< why nothing comes on; empty while all is well
  std::optional<std::uint64_t> behind;  ///< the oldest commit of the window: ours has left it
  std::optional<Error> stopped;         ///< nothing is read or stored any more
};

class ReplicatedLog final : public EventLog {
 public:
  /// `local` is a copy of the ring's log (RocksdbLog::ring_place). It and `store` outlive this, and
  /// the store's thread runs nothing of it any more when it is destroyed (see close()).
  ReplicatedLog(RocksdbLog& local, RingPlace place, CommitStore& store, const ReplicationPace& pace,
                ReplicatedLogPorts ports);
  ~ReplicatedLog() override;

  /// Follows: each commit of the ring is added to the local copy. Ends an append that is under way,
  /// whose fate is then learned by following.
  void follow();
  /// While following: has readers of this object see what was learned until now. On the caller's
  /// thread, which folds it before it begins to append.
  void take_up();
  /// While following: reads what the ring certainly holds, to its end. Returns its number, which
  /// state().end_reached reaches then, or passes; follow() drops what is under way.
  std::uint64_t read_on();
  /// Ends all use of the store and all writing of the local copy. On any thread but the store's,
  /// while that still runs.
  void close();
  ReplicatedLogState state() const;
  /// Names the servers' kind, as CommitStore::kind().
  std::string store() const { return store_kind_; }
  /// Has counters, trouble and place of state() looked at again.
  void refresh();

  // Appending ends following.
  using LogWriter::append;
  Result<std::vector<Event>> append(std::vector<EventDraft>&& drafts, LogTime time, Epoch epoch,
                                    Durability durability) override;
  Result<std::optional<std::vector<Event>>> begin(std::vector<EventDraft>&& drafts, LogTime time,
                                                  Epoch epoch, Durability durability) override;
  Result<std::optional<std::vector<Event>>> settled() override;
  void await_settled(Duration span) override;
  Duration pause() override;
  bool on_hold() const override { return held_; }
  /// Until go_on(), pause() does not end: what would be appended waits.
  void hold() { held_ = true; }
  void go_on() { held_ = false; }
  Result<void> drop_raw_before(Seq seq) override;
  Result<void> prune_before(Seq seq) override;

  // The local copy's.
  Result<std::unique_ptr<EventReader>> read(Seq from) const override { return local_.read(from); }
  Result<Seq> last_at(LogTime time) const override { return local_.last_at(time); }
  Result<std::optional<std::string>> raw(Seq seq) const override { return local_.raw(seq); }
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override {
    return local_.history(source, key);
  }
  Result<std::vector<Seq>> history_before(std::string_view source, const ObjectKey& key, Seq before,
                                          std::size_t most) const override {
    return local_.history_before(source, key, before, most);
  }
  Result<std::vector<Seq>> signs(std::string_view source) const override {
    return local_.signs(source);
  }
  Seq first_seq() const override { return local_.first_seq(); }
  // As it was taken up.
  Seq last_seq() const override { return tail().last; }
  LogTime last_time() const override { return tail().last_time; }
  Digest chain() const override { return tail().chain; }
  Result<Digest> chain_at(Seq seq) const override { return local_.chain_at(seq); }
  Result<LogStat> stat() const override { return local_.stat(); }
  Result<LogVerdict> verify(const LogProgress& progress = {}) const override {
    return local_.verify(progress);
  }
  Result<LogVerdict> verify_chain() const override { return local_.verify_chain(); }

 private:
  /// A commit on its way to the ring.
  struct Outgoing {
    PackHeader header;
    std::string pack;
    std::vector<Event> events;
    std::vector<std::string> raw;
  };
  Result<std::vector<Outgoing>> cut(std::span<EventDraft> drafts, LogTime time, Epoch epoch) const;
  LogTail tail() const;
  LogTail local_tail() const;
  // On the store's thread:
  RingEvents ring_events();
  void send_next();
  void stored();
  void learned(const RingCommit& commit, StoreVersion version);
  void note_end(Seq last);
  std::optional<RingCommit> kept(std::uint64_t commit);
  void settle(Result<std::vector<Event>> outcome);
  void stop(Error why);
  void look();

  RocksdbLog& local_;
  const ReplicatedLogPorts ports_;
  const std::string store_kind_;
  std::unique_ptr<Ring> ring_;       ///< on the store's thread
  std::deque<Outgoing> outgoing_;    ///< there, too: of the append under way; the first is sent
  std::vector<Event> done_;          ///< events of the commits before it
  std::deque<std::uint64_t> reads_;  ///< numbers of read_on() that have not ended
  /// Where commits of the local copy end, the newest first; one more than slots at most. Empty: not
  /// looked at yet. A whole ring is put back commit by commit, and each is looked for here.
  std::deque<Seq> ends_;

  RingPace pace_;      ///< on the caller's
  bool held_ = false;  ///< there, too

  mutable std::mutex mutex_;  ///< guards the rest
  LogTail tail_;
  std::condition_variable changed_;
  ReplicatedLogState state_;
  std::uint64_t read_last_ = 0;
  bool under_way_ = false;
  std::optional<Result<std::vector<Event>>> outcome_;
  std::mutex writing_;  ///< held by whoever writes the local copy
};

}  // namespace fairlead
