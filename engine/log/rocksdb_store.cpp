#include "engine/log/rocksdb_store.h"

#include <rocksdb/file_checksum.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "schema/codec.h"

namespace fairlead {
namespace {

constexpr std::array<const char*, 5> kFamilies{"default", "events", "raw", "by_object", "meta"};

/// A reader must leave no trace in a directory that it may not own: RocksDB's own diagnostics go
/// nowhere.
class NoLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::DBOptions database_options(rocksdb::Env* env) {
  rocksdb::DBOptions options;
  if (env != nullptr) options.env = env;
  // Stops at the first record that is not whole and keeps everything before it. Whether what
  // follows was a torn tail or an acknowledged commit is judged before a writer opens
  // (log_contents.h): RocksDB cannot know.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.paranoid_checks = true;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  options.max_open_files = -1;           // files that a writer deletes meanwhile stay readable
  options.max_bgerror_resume_count = 0;  // after an error the log is read-only until a restart
  options.max_total_wal_size = 64u << 20;
  options.manifest_preallocation_size = 64u << 10;
  options.keep_log_file_num = 3;
  options.max_log_file_size = 1u << 20;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::ColumnFamilyOptions family_options(std::string_view family) {
  rocksdb::ColumnFamilyOptions options;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 64u << 10;
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = 16u << 20;
  // Packs are compressed already.
  options.compression = family == "raw"         ? rocksdb::kZSTD
                        : family == "by_object" ? rocksdb::kLZ4Compression
                                                : rocksdb::kNoCompression;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> families() {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const char* family : kFamilies) descriptors.emplace_back(family, family_options(family));
  return descriptors;
}

void adopt(Store& store, rocksdb::DB* db) {
  store.db.reset(db);
  store.events = store.handles[1];
  store.raw = store.handles[2];
  store.by_object = store.handles[3];
  store.meta = store.handles[4];
}

Error not_ours(const std::filesystem::path& directory) {
  return {ErrorCode::incompatible,
          directory.string() +
              " is a RocksDB directory, but not one of a Fairlead log: it is left alone"};
}

/// Another program's database must not be opened with our column families, nor named corrupt.
Result<void> refuse_other_families(const std::filesystem::path& directory,
                                   const rocksdb::DBOptions& options) {
  std::vector<std::string> found;
  const rocksdb::Status status =
      rocksdb::DB::ListColumnFamilies(options, directory.string(), &found);
  if (!status.ok()) return translate(status, "cannot read " + directory.string());
  for (const char* family : kFamilies)
    if (std::find(found.begin(), found.end(), family) == found.end()) return not_ours(directory);
  return {};
}

Result<void> refuse_other_format(const std::filesystem::path& directory, const Store& store) {
  std::string format;
  std::string version;
  rocksdb::Status status = store.db->Get({}, store.meta, "format", &format);
  if (status.IsNotFound() || (status.ok() && format != kFormat)) return not_ours(directory);
  if (status.ok()) status = store.db->Get({}, store.meta, "schema_version", &version);
  if (!status.ok()) return translate(status, "cannot read " + directory.string());
  unsigned number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc{} || end != version.data() + version.size())
    return Error{ErrorCode::corrupt, directory.string() + " has no readable schema version"};
  if (number > kSchemaVersion)
    return Error{ErrorCode::incompatible, directory.string() + " was written with schema version " +
                                              version + "; this program reads up to " +
                                              std::to_string(kSchemaVersion)};
  return {};
}

rocksdb::Status write_format(Store& store) {
  rocksdb::WriteBatch batch;
  batch.Put(store.meta, "format", rocksdb::Slice(kFormat.data(), kFormat.size()));
  batch.Put(store.meta, "schema_version", std::to_string(kSchemaVersion));
  rocksdb::WriteOptions options;
  options.sync = true;
  return store.db->Write(options, &batch);
}

}  // namespace

Store::~Store() {
  if (db == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles)
    db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  db->Close().PermitUncheckedError();
}

Error translate(const rocksdb::Status& status, std::string_view doing) {
  const std::string message = std::string(doing) + ": " + status.ToString();
  if (status.IsNoSpace())
    return {ErrorCode::unavailable, std::string(doing) + ": the disk is full"};
  if (status.IsCorruption()) return {ErrorCode::corrupt, message};
  if (status.IsIOError() && message.find("lock ") != std::string::npos)
    return {ErrorCode::conflict, std::string(doing) + ": another process has it open for writing"};
  if (status.IsNotFound() || status.IsPathNotFound()) return {ErrorCode::not_found, message};
  if (status.IsInvalidArgument() || status.IsNotSupported())
    return {ErrorCode::incompatible, message};
  if (status.IsIOError() || status.IsBusy() || status.IsTimedOut())
    return {ErrorCode::unavailable, message};
  return {ErrorCode::internal, message};
}

Result<void> create_store(const std::filesystem::path& directory, rocksdb::Env* env) {
  rocksdb::DBOptions options = database_options(env);
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.error_if_exists = true;
  Store store;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status =
      rocksdb::DB::Open(options, directory.string(), families(), &store.handles, &db);
  if (!status.ok()) return translate(status, "cannot make a log in " + directory.string());
  adopt(store, db);
  status = write_format(store);
  if (!status.ok()) return translate(status, "cannot make a log in " + directory.string());
  return {};
}

Result<std::shared_ptr<Store>> open_store_for_writing(const std::filesystem::path& directory,
                                                      rocksdb::Env* env) {
  const rocksdb::DBOptions options = database_options(env);
  if (auto ours = refuse_other_families(directory, options); !ours) return ours.error();
  const auto store = std::make_shared<Store>();
  rocksdb::DB* db = nullptr;
  rocksdb::Status status =
      rocksdb::DB::Open(options, directory.string(), families(), &store->handles, &db);
  if (!status.ok()) return translate(status, "cannot open the log in " + directory.string());
  adopt(*store, db);
  if (auto ours = refuse_other_format(directory, *store); !ours) return ours.error();
  status = write_format(*store);
  if (!status.ok()) return translate(status, "cannot write the log in " + directory.string());
  return store;
}

Result<std::shared_ptr<Store>> open_store_for_reading(const std::filesystem::path& directory,
                                                      rocksdb::Env* env) {
  rocksdb::DBOptions options = database_options(env);
  options.info_log = std::make_shared<NoLogger>();
  if (auto ours = refuse_other_families(directory, options); !ours) return ours.error();
  const auto store = std::make_shared<Store>();
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options, directory.string(), families(), &store->handles, &db);
  if (!status.ok()) return translate(status, "cannot read the log in " + directory.string());
  adopt(*store, db);
  if (auto ours = refuse_other_format(directory, *store); !ours) return ours.error();
  return store;
}

std::string seq_key(Seq seq) {
  std::string key(8, '\0');
  for (unsigned i = 0; i < 8; ++i) key[i] = static_cast<char>(seq.value >> 8 * (7 - i) & 0xFF);
  return key;
}

Seq seq_of_key(rocksdb::Slice key) {
  Seq seq;
  if (key.size() < 8) return seq;
  for (std::size_t i = key.size() - 8; i < key.size(); ++i)
    seq.value = seq.value << 8 | static_cast<unsigned char>(key[i]);
  return seq;
}

std::string object_prefix(std::string_view source, const ObjectKey& key) {
  std::string prefix;
  const auto add = [&prefix](std::string_view part) {
    for (int shift = 24; shift >= 0; shift -= 8)
      prefix += static_cast<char>(part.size() >> shift & 0xFF);
    prefix += part;
  };
  add(source);
  prefix += static_cast<char>(key.kind);
  add(key.namespace_);
  add(key.name);
  return prefix;
}

}  // namespace fairlead
