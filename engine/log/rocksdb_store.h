// Private to the log: a RocksDB database opened the one way that the log needs, and what its keys
// look like.
//
// Column families: `events` (pack.h; key = first seq, big-endian), `raw` (seq, big-endian -> raw
// object), `by_object` (object_prefix + seq, big-endian -> nothing), `meta` ("format" -> kFormat,
// "schema_version" -> decimal).
#pragma once

#include <rocksdb/db.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "schema/event.h"

namespace fairlead {

inline constexpr std::string_view kFormat = "fairlead.io/log";

/// An open database and its column families; closed with the last owner.
struct Store {
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

/// 8 bytes, big-endian, so that keys sort as numbers.
std::string seq_key(Seq seq);
/// The number that an 8-byte key, or the end of a longer one, holds; 0 if it is too short.
Seq seq_of_key(rocksdb::Slice key);
/// Starts the by_object keys of one object: each part with its length before it, so that no name
/// can pass for another.
std::string object_prefix(std::string_view source, const ObjectKey& key);

}  // namespace fairlead
