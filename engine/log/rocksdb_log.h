// The log on RocksDB: durable, one writer, readable by anyone at any time.
//
// A data directory holds `log/` (RocksDB), `acknowledged` (how far the log had certainly come,
// acknowledged.h) and `writer.lock`. Each group commit is one synced WriteBatch: its pack (pack.h),
// its index entries and its raw objects. Opening judges the log first (log_contents.h): a torn tail
// is dropped, damage before it refuses a writer with the seq and still lets a reader have
// everything before it. A writer that cannot sync turns read-only for good, because after a failed
// fsync nobody knows what the disk holds; the next start finds out.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/log/commit.h"
#include "engine/log/event_log.h"

namespace rocksdb {
class Env;
}

namespace fairlead {

class AcknowledgedFile;
class WriterLock;
struct LogDamage;
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
  static Result<std::unique_ptr<RocksdbLog>> open(const std::filesystem::path& directory,
                                                  OpenMode mode);
  /// The same on another file system: a test makes disks fail with it. `env` must outlive the log.
  static Result<std::unique_ptr<RocksdbLog>> open_on(rocksdb::Env& env,
                                                     const std::filesystem::path& directory,
                                                     OpenMode mode);
  ~RocksdbLog() override;

  Result<std::vector<Event>> append(std::span<const EventDraft> drafts, LogTime time,
                                    Epoch epoch) override;
  Result<std::unique_ptr<EventReader>> read(Seq from) const override;
  Result<Seq> last_at(LogTime time) const override;
  Result<std::optional<std::string>> raw(Seq seq) const override;
  Result<void> drop_raw_before(Seq seq) override;
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override;
  Seq last_seq() const override;
  LogTime last_time() const override;
  Digest chain() const override;
  Result<LogStat> stat() const override;
  Result<LogVerdict> verify() const override;

  /// What is wrong with a log that was opened for reading, naming the seq; empty if it is whole.
  std::string damage() const;

 private:
  RocksdbLog();
  static Result<std::unique_ptr<RocksdbLog>> open_with(rocksdb::Env* env,
                                                       const std::filesystem::path& directory,
                                                       OpenMode mode);
  Result<void> open_for_writing(rocksdb::Env* env);
  Result<void> open_for_reading(rocksdb::Env* env);
  LogTail tail() const;
  Error stop_writing(Error why);

  std::filesystem::path directory_;
  std::unique_ptr<WriterLock> lock_;        ///< null in a log opened for reading
  std::unique_ptr<AcknowledgedFile> mark_;  ///< null in a log opened for reading
  std::shared_ptr<Store> store_;
  std::unique_ptr<LogDamage> damage_;
  mutable std::mutex mutex_;  ///< guards the rest
  LogTail tail_;
  std::optional<Error> stopped_;  ///< why nothing is written any more
};

}  // namespace fairlead
