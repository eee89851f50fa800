// Private to the log: a RocksDB database opened the one way that the log needs, and what its keys
// look like.
//
// Column families: `events` (pack.h; key = first seq, big-endian), `raw` (seq, big-endian -> raw
// object), `by_object` (object_index.h), `meta`:
//   "format"                       kFormat
//   "schema_version"               decimal
//   "epoch/" + epoch, big-endian   the program version that the epoch's EpochStarted named
//   "base"                         where the events that were pruned ended (base_bytes); absent
//                                  until something was
#pragma once

#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/log/commit.h"
#include "schema/event.h"

namespace fairlead {

inline constexpr std::string_view kFormat = "fairlead.io/log";

/// Drops index entries of events that were pruned whenever RocksDB rewrites the index anyway.
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

/// What a RocksDB status means for the log.
Error translate(const rocksdb::Status& status, std::string_view doing);

/// Makes an empty log at `directory`, which must not exist.
Result<void> create_store(const std::filesystem::path& directory, rocksdb::Env* env);
/// Opens an existing log for writing; drops a torn tail.
Result<std::shared_ptr<Store>> open_store_for_writing(const std::filesystem::path& directory,
                                                      rocksdb::Env* env);
/// Opens an existing log without touching a file, also while another process writes it: what is
/// whole of it.
Result<std::shared_ptr<Store>> open_store_for_reading(const std::filesystem::path& directory,
                                                      rocksdb::Env* env);

/// Where the pruned events ended: the tail from which the kept ones go on. A tail of seq 0 if none
/// were; `corrupt` if it is not what was written.
Result<LogTail> read_base(const Store& store);
/// What is stored of it: seq and log_time (8 bytes each, little-endian), the chain's digest (32
/// bytes), and the first 8 bytes of SHA-256 over those 48.
std::string base_bytes(const LogTail& base);

/// The epochs of the kept events with their program versions.
Result<std::map<Epoch, std::string>> read_epochs(const Store& store);
std::string epoch_key(Epoch epoch);

/// The bytes of the raw objects: of those in tables the size of the tables, of those that only the
/// write-ahead log holds yet their length. Counts what can be read of a damaged log.
std::uint64_t raw_bytes(const Store& store);

/// 8 bytes, big-endian, so that keys sort as numbers.
std::string seq_key(Seq seq);
/// The number that an 8-byte key, or the end of a longer one, holds; 0 if it is too short.
Seq seq_of_key(rocksdb::Slice key);
/// Starts the by_object keys of one object as older programs made them (object_index.h): each part
/// with its length before it, so that no name can pass for another.
std::string object_prefix(std::string_view source, const ObjectKey& key);

}  // namespace fairlead
