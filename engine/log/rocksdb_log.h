// The log on RocksDB: durable, one writer, readable by anyone at any time.
//
// A data directory holds `log/` (RocksDB), `acknowledged` (how far the log had certainly come,
// acknowledged.h) and `writer.lock`. Each group commit is one synced WriteBatch: its pack (pack.h),
// its index entries and its raw objects. The beginning may have been pruned: then the digest that
// the first kept commit continues is stored beside the events, and the chain is checked from it.
// Opening judges the log first (log_contents.h): a torn tail is dropped, damage before it refuses a
// writer with the seq and still lets a reader have everything before it. A writer that cannot sync
// turns read-only for good, because after a failed fsync nobody knows what the disk holds; the next
// start finds out.
//
// An append has four parts: making ready (numbers, encoding), linking it into the chain, packing,
// and writing with a sync. The first happens on the caller's thread. The others follow there too
// (append), or each on a thread of the log (append_ahead): so one commit is encoded while others
// are digested and packed and one is waited for. Each part costs about as much as another.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/commit.h"
#include "engine/log/event_log.h"
#include "engine/log/witness.h"
#include "engine/log/write_behind.h"

namespace rocksdb {
class Env;
}

namespace fairlead {

class AcknowledgedFile;
class WriterLock;
struct LogDamage;
struct PackHeader;
struct Store;

enum class OpenMode {
  write,  ///< makes the log if the directory is new or empty; takes the writer's lock
  read,   ///< changes nothing, takes no lock; sees the log as it is now and not what is appended
          ///< later
};

class RocksdbLog final : public EventLog {
 public:
  /// Opens the log of a data directory. Errors: `conflict` if another writer has it; `incompatible`
  /// if the directory is of another program or of a newer version; `corrupt`, naming the seq, if it
  /// is damaged and `mode` is write, or nothing of it can be read; `not_found` if there is none to
  /// read; `unavailable` if the disk is full or fails.
  /// Opening for writing reads the whole log once; `progress` hears of it if that takes long. A log
  /// that does not hold what `witnesses` say is damaged; those of pruned events are not heard. The
  /// snapshots of a data directory are its witnesses: open_data_directory (snapshots/) names them.
  static Result<std::unique_ptr<RocksdbLog>> open(const std::filesystem::path& directory,
                                                  OpenMode mode, const LogProgress& progress = {},
                                                  std::span<const LogWitness> witnesses = {});
  /// The same on another file system: a test makes disks fail with it. `env` must outlive the log.
  static Result<std::unique_ptr<RocksdbLog>> open_on(rocksdb::Env& env,
                                                     const std::filesystem::path& directory,
                                                     OpenMode mode);
  ~RocksdbLog() override;

  Result<std::vector<Event>> append(std::span<const EventDraft> drafts, LogTime time,
                                    Epoch epoch) override;
  Result<std::vector<Event>> append_owned(std::vector<EventDraft>&& drafts, LogTime time,
                                          Epoch epoch) override;
  Result<std::vector<Event>> append_ahead(std::vector<EventDraft>&& drafts, LogTime time,
                                          Epoch epoch) override;
  Result<void> settle() override;
  /// Empties the write-ahead log: what stands there alone would be read again by everybody who
  /// opens the log. For a writer that ends; nothing is lost where this is left out or fails.
  Result<void> move_to_tables();
  /// Makes what was read durable: a reader sees what a writer is about to sync, or died before it
  /// could. For whoever is about to keep something that follows from it.
  Result<void> make_durable() const;
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
  Result<LogVerdict> verify() const override;
  Result<LogVerdict> verify_chain() const override;

  /// Where the events that were pruned ended: what the first kept commit goes on from.
  LogTail base() const;
  /// The epochs of the kept events with their program versions.
  std::map<Epoch, std::string> epochs() const;
  /// Gives `take` every stored group commit (pack.h) up to the one that ends with `last`, judged,
  /// until one refuses.
  Result<void> for_each_pack(
      Seq last,
      const std::function<Result<void>(const PackHeader&, std::string_view pack)>& take) const;

  /// Where the group commit that holds `seq` ends; the end of the log if `seq` is behind it.
  Result<LogTail> tail_through(Seq seq) const;
  /// Where the log would begin if it were pruned before `seq`: the end of the last group commit
  /// that lies before it as a whole.
  Result<LogTail> tail_before(Seq seq) const;
  /// Forgets the group commits whose events all lie before `seq`, and frees their place on the
  /// disk. What is kept can be checked as before: the digest that its first commit continues stays.
  /// The caller sees to it that a snapshot stands for what is lost.
  Result<void> prune_before(Seq seq);

  std::string damage() const override;

 private:
  RocksdbLog();
  static Result<std::unique_ptr<RocksdbLog>> open_with(rocksdb::Env* env,
                                                       const std::filesystem::path& directory,
                                                       OpenMode mode, const LogProgress& progress,
                                                       std::span<const LogWitness> witnesses);
  Result<void> open_for_writing(rocksdb::Env* env, const LogProgress& progress,
                                std::span<const LogWitness> witnesses);
  Result<void> open_for_reading(rocksdb::Env* env, const LogProgress& progress,
                                std::span<const LogWitness> witnesses);
  LogTail tail() const;
  struct Prepared;
  Result<std::shared_ptr<Prepared>> prepare(std::vector<EventDraft>& drafts, LogTime time,
                                            Epoch epoch);
  void link(Prepared& prepared);
  Result<void> pack_up(Prepared& prepared);
  Result<void> write(Prepared& prepared);
  Result<void> expect_writable() const;
  Error stop_writing(Error why);
  Result<PackHeader> pack_holding(Seq seq) const;
  Result<void> free_pruned();
  LogStat count_events() const;

  std::filesystem::path directory_;
  std::unique_ptr<WriterLock> lock_;        ///< null in a log opened for reading
  std::unique_ptr<AcknowledgedFile> mark_;  ///< null in a log opened for reading
  std::shared_ptr<Store> store_;
  std::unique_ptr<LogDamage> damage_;
  mutable std::mutex mutex_;  ///< guards the rest
  LogTail base_;              ///< where what was pruned ended
  LogTail tail_;
  std::map<Epoch, std::string> epochs_;  ///< of the kept events, with their program versions
  std::optional<Error> stopped_;         ///< why nothing is written any more
  std::vector<std::string> spare_;       ///< memory of payloads, to use again

  // Of the appending thread: what holds once all is durable.
  LogTail ahead_;  ///< but for the chain
  std::map<Epoch, std::string> epochs_ahead_;
  // Of whoever links: the thread below, or the appending one when nothing is on its way.
  Digest chain_ahead_;

  // Last, because they use the rest, and each the one before it. Each holds the commit that it
  // works on and the next, so that none waits for another that is as fast in the mean.
  WriteBehind writing_{2};
  WriteBehind packing_{2};
  WriteBehind linking_{2};
};

}  // namespace fairlead
