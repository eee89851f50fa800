// Private to the log: a RocksDB database, opened with the options that the log needs, and the
// layout of its keys.
//
// Column families: `events` (pack.h; key = first seq, big-endian), `raw` (seq, big-endian -> raw
// object), `by_object` (object_index.h), `meta`:
//   "format"                       kFormat
//   "schema_version"               decimal
//   "epoch/" + epoch, big-endian   the program version that the epoch's EpochStarted named
//   "base"                         where the pruned events ended (base_bytes); absent until
//                                  events are pruned
//   "ring"                         where the log ends in the ring that it is a copy of
//                                  (ring_text); absent where the log is not replicated
#pragma once

#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/log/commit.h"
#include "schema/event.h"

namespace fairlead {

inline constexpr std::string_view kFormat = "fairlead.io/log";
inline constexpr std::string_view kEpochPrefix = "epoch/";

/// Drops the index entries of pruned events when RocksDB compacts the index.
class PrunedEntries final : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "fairlead.PrunedEntries"; }
  bool Filter(int, const rocksdb::Slice& key, const rocksdb::Slice&, std::string*,
              bool*) const override;

  std::atomic<std::uint64_t> first{0};  ///< seq of the first event that is kept
};

/// An open database and its column families; closed with the last owner.
struct Store {
  PrunedEntries pruned_entries;
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::ColumnFamilyHandle* events = nullptr;
  rocksdb::ColumnFamilyHandle* raw = nullptr;
  rocksdb::ColumnFamilyHandle* by_object = nullptr;
  rocksdb::ColumnFamilyHandle* meta = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;  ///< all of them, `default` too

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();
};

/// Returns the error that a failed RocksDB status means for the log; `doing` begins its message.
Error translate(const rocksdb::Status& status, std::string_view doing);

/// Makes an empty log at `directory`, which must not exist.
Result<void> create_store(const std::filesystem::path& directory, rocksdb::Env* env);
/// Opens an existing log for writing; RocksDB drops a torn tail. Fails as cannot_open() and
/// not_a_log() say (damaged_file.h), and with `incompatible` for a newer schema version.
Result<std::shared_ptr<Store>> open_store_for_writing(const std::filesystem::path& directory,
                                                      rocksdb::Env* env);
/// Opens an existing log without changing a file, also while another process writes it. It holds
/// the intact commits up to the first torn record. Fails like open_store_for_writing().
Result<std::shared_ptr<Store>> open_store_for_reading(const std::filesystem::path& directory,
                                                      rocksdb::Env* env);

/// Reads the schema version that a reader must know: the version of the newest program that opened
/// the log for writing. 0 if it is not what was written.
unsigned read_schema_version(const Store& store);

/// Reads where the pruned events ended: the tail that the first kept commit continues, of seq 0 if
/// nothing was pruned. Fails with `corrupt` if it is not what was written.
Result<LogTail> read_base(const Store& store);
/// Returns its stored value: seq and log_time (8 bytes each, little-endian), the chain's digest (32
/// bytes), and the first 8 bytes of SHA-256 over those 48.
std::string base_bytes(const LogTail& base);

/// Reads the epochs of the kept events with their program versions.
Result<std::map<Epoch, std::string>> read_epochs(const Store& store);
std::string epoch_key(Epoch epoch);
/// Returns the epoch of `events`, which are of one commit, if it begins or its program is named
/// there. Stored with the commit, so that stat() need not read every event.
std::map<Epoch, std::string> news_of_epochs(std::span<const Event> events,
                                            const std::map<Epoch, std::string>& known);

/// Returns the bytes of the raw objects: the size of their tables plus the length of the objects
/// that are not in tables yet. Counts the readable part of a damaged log.
std::uint64_t raw_bytes(const Store& store);

/// Returns the 8-byte big-endian key of a seq: keys sort as numbers.
std::string seq_key(Seq seq);
/// Returns the number in the last 8 bytes of a key; 0 if the key is shorter.
Seq seq_of_key(rocksdb::Slice key);
/// Returns the prefix of the by_object keys of one object as older programs made them
/// (object_index.h). Each part has its length before it, so that no two objects share a prefix.
std::string object_prefix(std::string_view source, const ObjectKey& key);

}  // namespace fairlead
