// The log on RocksDB: durable, with one writer and any number of readers in any process.
//
// A data directory holds `log/` (RocksDB), `acknowledged` (the durable watermark, acknowledged.h)
// and `writer.lock`. Each group commit is one synced WriteBatch: its pack (pack.h), its index
// entries and its raw objects. The beginning may have been pruned: then the digest that the first
// kept commit continues is stored beside the events, and the chain is checked from it. Opening
// judges the log first (log_contents.h): a torn tail is dropped; damage before it refuses a writer,
// naming the seq, and leaves a reader everything before it. A writer whose sync failed is read-only
// until the log is opened again, because after a failed fsync the contents of the disk are unknown;
// the next start judges them.
//
// An append has four stages: preparing (seqs, encoding), linking into the chain, packing, and
// writing with a sync. The first runs on the caller's thread. The others follow there too (append),
// or each on a thread of the log (Durability::pending): one commit is encoded while others are
// digested, packed and synced. The stages cost about the same.
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
#include "engine/log/pack.h"
#include "engine/log/pipeline_stage.h"
#include "engine/log/replicated/ring_place.h"
#include "engine/log/watermark_source.h"

namespace rocksdb {
class Env;
class WriteBatch;
}  // namespace rocksdb

namespace fairlead {

class AcknowledgedFile;
class WriterLock;
struct LogDamage;
struct Store;

enum class OpenMode {
  write,  ///< makes the log if the directory is new or empty; acquires the writer's lock
  read,   ///< changes nothing and acquires no lock; sees the log as it is now and not what is
          ///< appended later
};

/// A group commit that was made elsewhere, or waits to be stored.
struct ChainedCommit {
  PackHeader header;
  std::string_view pack;          ///< pack.h
  std::span<const Event> events;  ///< what it holds
  /// The raw object beside each event, empty where there is none; may end early.
  std::span<const std::string> raw{};
};

/// Whether a walk over group commits goes on.
enum class PackWalk : std::uint8_t { go_on, stop };

class RocksdbLog final : public EventLog {
 public:
  /// Opens the log of a data directory. Errors: `conflict` if another writer has it; `incompatible`
  /// if the directory is of another program or of a newer version; `corrupt`, naming the seq, if it
  /// is damaged and `mode` is write, or nothing of it can be read; `not_found` if there is none to
  /// read; `unavailable` if the disk is full or fails. Opening for writing reads the whole log
  /// once; `progress` receives reports if that takes long. A log that contradicts `sources` is
  /// damaged; sources about pruned events are ignored. The snapshots of a data directory are its
  /// watermark sources: open_data_directory (snapshots/) passes them.
  static Result<std::unique_ptr<RocksdbLog>> open(const std::filesystem::path& directory,
                                                  OpenMode mode, const LogProgress& progress = {},
                                                  std::span<const WatermarkSource> sources = {});
  /// Opens the log on another file system, with which a test makes disks fail. `env` must outlive
  /// the log.
  static Result<std::unique_ptr<RocksdbLog>> open_on(rocksdb::Env& env,
                                                     const std::filesystem::path& directory,
                                                     OpenMode mode);
  ~RocksdbLog() override;

  using LogWriter::append;
  Result<std::vector<Event>> append(std::vector<EventDraft>&& drafts, LogTime time, Epoch epoch,
                                    Durability durability) override;
  Result<void> wait_durable() override;
  /// Moves the contents of the write-ahead log to tables, so that the next opening need not replay
  /// it. For a writer that ends; nothing is lost if this is left out or fails.
  Result<void> move_to_tables();
  /// Syncs what a reader has read: it sees commits that their writer has not synced yet, or died
  /// before syncing. For a caller that is about to store something derived from them. Fails with
  /// `unavailable`.
  Result<void> make_durable() const;
  Result<std::unique_ptr<EventReader>> read(Seq from) const override;
  Result<Seq> last_at(LogTime time) const override;
  Result<std::optional<std::string>> raw(Seq seq) const override;
  Result<void> drop_raw_before(Seq seq) override;
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override;
  Result<std::vector<Seq>> history_before(std::string_view source, const ObjectKey& key, Seq before,
                                          std::size_t most) const override;
  Result<std::vector<Seq>> signs(std::string_view source) const override;
  Seq first_seq() const override;
  Seq last_seq() const override;
  LogTime last_time() const override;
  Digest chain() const override;
  Result<Digest> chain_at(Seq seq) const override;
  Result<LogStat> stat() const override;
  Result<LogVerdict> verify(const LogProgress& progress = {}) const override;
  Result<LogVerdict> verify_chain() const override;

  /// Appends a group commit that has its place in the chain already, byte for byte, durably.
  /// `place` is where the ring's log ends after it. Fails with `corrupt`, and stores nothing, if it
  /// does not continue this log. On the writer's thread, as append().
  Result<void> store(const ChainedCommit& commit, const RingPlace& place);
  /// Returns where this log ends in the ring that it is a copy of; nullopt: it is no copy.
  Result<std::optional<RingPlace>> ring_place() const;
  /// Makes it a copy, or ends that.
  Result<void> set_ring_place(const std::optional<RingPlace>& place);

  /// Returns the schema version that a reader of the log must know (schema/codec.h). Opening for
  /// writing raises it to this program's.
  unsigned schema_version() const;
  /// Returns where the pruned events ended: the tail that the first kept commit continues.
  LogTail base() const;
  /// Returns the epochs of the kept events with their program versions.
  std::map<Epoch, std::string> epochs() const;
  /// Passes stored group commits (pack.h), verified, to `visit` in order: from the one that begins
  /// with `from` (0: the first kept one) up to the one that holds `last`, or until `visit` asks to
  /// stop. Ends with the first error of `visit`; fails with `bad_input` if no commit begins with
  /// `from`, with `corrupt` at a damaged commit.
  Result<void> for_each_pack(
      Seq from, Seq last,
      const std::function<Result<PackWalk>(const PackHeader&, std::string_view pack)>& visit) const;

  /// Returns where the group commit that holds `seq` ends; the end of the log for a later seq.
  Result<LogTail> tail_through(Seq seq) const;
  /// Returns where the log would begin if it were pruned before `seq`: the end of the last group
  /// commit whose events all lie before it.
  Result<LogTail> tail_before(Seq seq) const;
  /// Frees the disk space, too.
  Result<void> prune_before(Seq seq) override;

  std::string damage() const override;

 private:
  RocksdbLog();
  static Result<std::unique_ptr<RocksdbLog>> open_with(rocksdb::Env* env,
                                                       const std::filesystem::path& directory,
                                                       OpenMode mode, const LogProgress& progress,
                                                       std::span<const WatermarkSource> sources);
  Result<void> open_for_writing(rocksdb::Env* env, const LogProgress& progress,
                                std::span<const WatermarkSource> sources);
  Result<void> open_for_reading(rocksdb::Env* env, const LogProgress& progress,
                                std::span<const WatermarkSource> sources);
  LogTail tail() const;
  struct Prepared;
  Result<std::shared_ptr<Prepared>> prepare(std::vector<EventDraft>& drafts, LogTime time,
                                            Epoch epoch);
  void link(Prepared& prepared);
  Result<void> pack_up(Prepared& prepared);
  Result<void> write(rocksdb::WriteBatch& batch, const LogTail& reached,
                     std::map<Epoch, std::string>& news);
  Result<void> expect_writable() const;
  Error stop_writing(Error why);
  Result<PackHeader> pack_holding(Seq seq) const;
  Result<void> free_pruned();
  LogStat count_events() const;

  Result<std::vector<Event>> append_pipelined(std::vector<EventDraft>&& drafts, LogTime time,
                                              Epoch epoch);

  std::filesystem::path directory_;
  std::unique_ptr<WriterLock> lock_;        ///< null in a log opened for reading
  std::unique_ptr<AcknowledgedFile> mark_;  ///< null in a log opened for reading
  std::shared_ptr<Store> store_;
  std::unique_ptr<LogDamage> damage_;
  mutable std::mutex mutex_;  ///< guards the rest
  LogTail base_;              ///< where the pruned events ended
  LogTail tail_;
  std::map<Epoch, std::string> epochs_;  ///< of the kept events, with their program versions
  std::optional<Error> stopped_;         ///< why the log is read-only; empty while it is not
  std::vector<std::string> spare_;       ///< payload buffers for reuse

  // Owned by the appending thread: the values after the last pending commit.
  LogTail ahead_;  ///< its digest is not set after append_pipelined(): `chain_ahead_` is the chain
  std::map<Epoch, std::string> epochs_ahead_;
  // Owned by the thread that links: the thread of `linking_`, or the appending one while no append
  // is pending.
  Digest chain_ahead_;

  // Declared last, because they use the other members and each uses the one before it. Each queue
  // has room for the commit under way and the next, so that a stage with the same mean time as its
  // neighbour does not wait for it.
  PipelineStage writing_{2};
  PipelineStage packing_{2};
  PipelineStage linking_{2};
};

}  // namespace fairlead
