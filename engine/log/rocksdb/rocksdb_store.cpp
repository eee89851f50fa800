#include "engine/log/rocksdb/rocksdb_store.h"

#include <rocksdb/file_checksum.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "engine/log/rocksdb/damaged_file.h"
#include "schema/codec.h"

namespace fairlead {
namespace {

constexpr std::size_t kBaseBytes = 56;
constexpr std::array<const char*, 5> kFamilies{"default", "events", "raw", "by_object", "meta"};

/// Discards RocksDB's own diagnostics: a reader must not write to a directory that it may not own,
/// and on a full disk RocksDB aborts the process when it cannot write its LOG, before it returns
/// the error.
class NoLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::DBOptions database_options(rocksdb::Env* env) {
  rocksdb::DBOptions options;
  if (env != nullptr) options.env = env;
  // Stops at the first record that is not whole and keeps everything before it. RocksDB cannot
  // know whether that record was a torn tail or an acknowledged commit: log_contents.h judges it
  // before a writer opens.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.paranoid_checks = true;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  options.max_open_files = -1;           // files that a writer deletes meanwhile stay readable
  options.max_bgerror_resume_count = 0;  // after an error the log is read-only until a restart
  // Every opening replays the write-ahead log, even a reader's opening of a running hub's log.
  options.max_total_wal_size = 16u << 20;
  options.allow_concurrent_memtable_write = false;  // there is one writer
  options.manifest_preallocation_size = 64u << 10;
  options.info_log = std::make_shared<NoLogger>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::ColumnFamilyOptions family_options(std::string_view family) {
  rocksdb::ColumnFamilyOptions options;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 64u << 10;
  table.format_version = 5;
  table.max_auto_readahead_size = 2u << 20;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = 16u << 20;
  if (family == "by_object") options.write_buffer_size = 4u << 20;
  // Packs are compressed already.
  options.compression = family == "raw"         ? rocksdb::kZSTD
                        : family == "by_object" ? rocksdb::kLZ4Compression
                                                : rocksdb::kNoCompression;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> families(const Store& store) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string_view family : kFamilies) {
    descriptors.emplace_back(std::string(family), family_options(family));
    if (family == "by_object") descriptors.back().options.compaction_filter = &store.pruned_entries;
  }
  return descriptors;
}

void adopt(Store& store, rocksdb::DB* db) {
  store.db.reset(db);
  store.events = store.handles[1];
  store.raw = store.handles[2];
  store.by_object = store.handles[3];
  store.meta = store.handles[4];
}

/// Fails for a database without our column families, before it is opened: one of another program
/// must not be changed, nor reported as corrupt.
Result<void> refuse_other_families(const std::filesystem::path& directory,
                                   const rocksdb::DBOptions& options) {
  std::vector<std::string> found;
  const rocksdb::Status status =
      rocksdb::DB::ListColumnFamilies(options, directory.string(), &found);
  if (!status.ok()) return cannot_open(directory, status);
  for (const char* family : kFamilies)
    if (std::find(found.begin(), found.end(), family) == found.end()) return not_a_log(directory);
  return {};
}

Result<void> refuse_other_format(const std::filesystem::path& directory, const Store& store) {
  std::string format;
  const rocksdb::Status status = store.db->Get({}, store.meta, "format", &format);
  if (status.IsNotFound() || (status.ok() && format != kFormat)) return not_a_log(directory);
  if (!status.ok()) return cannot_open(directory, status);
  const unsigned version = read_schema_version(store);
  if (version == 0)
    return Error{ErrorCode::corrupt, directory.string() + " has no readable schema version"};
  if (version > kSchemaVersion)
    return Error{ErrorCode::incompatible, directory.string() + " was written with schema version " +
                                              std::to_string(version) +
                                              "; this program reads up to " +
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
  if (status.IsCorruption()) {
    const std::string table = table_named_in(message);
    if (table.empty()) return {ErrorCode::corrupt, message};
    return {ErrorCode::corrupt, std::string(doing) + ": the file log/" + table +
                                    " is not as it was written (" + status.ToString() + ")"};
  }
  // RocksDB reports its LOCK file, held by another process, as an error of I/O.
  if (status.IsIOError() && message.find("lock ") != std::string::npos)
    return {ErrorCode::conflict, std::string(doing) + ": another process has it open for writing"};
  if (status.IsNotFound() || status.IsPathNotFound()) return {ErrorCode::not_found, message};
  if (status.IsInvalidArgument() || status.IsNotSupported())
    return {ErrorCode::incompatible, message};
  if (status.IsIOError() || status.IsBusy() || status.IsTimedOut())
    return {ErrorCode::unavailable, message};
  return {ErrorCode::internal, message};
}

unsigned read_schema_version(const Store& store) {
  std::string text;
  if (!store.db->Get({}, store.meta, "schema_version", &text).ok()) return 0;
  unsigned version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc{} && end == text.data() + text.size() ? version : 0;
}

Result<void> create_store(const std::filesystem::path& directory, rocksdb::Env* env) {
  rocksdb::DBOptions options = database_options(env);
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.error_if_exists = true;
  Store store;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status =
      rocksdb::DB::Open(options, directory.string(), families(store), &store.handles, &db);
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
      rocksdb::DB::Open(options, directory.string(), families(*store), &store->handles, &db);
  if (!status.ok()) return cannot_open(directory, status);
  adopt(*store, db);
  if (auto ours = refuse_other_format(directory, *store); !ours) return ours.error();
  status = write_format(*store);
  if (!status.ok()) return translate(status, "cannot write the log in " + directory.string());
  return store;
}

Result<std::shared_ptr<Store>> open_store_for_reading(const std::filesystem::path& directory,
                                                      rocksdb::Env* env) {
  const rocksdb::DBOptions options = database_options(env);
  if (auto ours = refuse_other_families(directory, options); !ours) return ours.error();
  const auto store = std::make_shared<Store>();
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(
      options, directory.string(), families(*store), &store->handles, &db);
  if (!status.ok()) return cannot_open(directory, status);
  adopt(*store, db);
  if (auto ours = refuse_other_format(directory, *store); !ours) return ours.error();
  return store;
}

bool PrunedEntries::Filter(int, const rocksdb::Slice& key, const rocksdb::Slice&, std::string*,
                           bool*) const {
  return seq_of_key(key).value < first.load(std::memory_order_relaxed);
}

std::string base_bytes(const LogTail& base) {
  std::string bytes;
  for (const std::uint64_t number :
       {base.last.value, static_cast<std::uint64_t>(base.last_time.ns)})
    for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(number >> 8 * i & 0xFF);
  bytes.append(reinterpret_cast<const char*>(base.chain.bytes.data()), base.chain.bytes.size());
  const Digest check = sha256(bytes);
  bytes.append(reinterpret_cast<const char*>(check.bytes.data()), 8);
  return bytes;
}

Result<LogTail> read_base(const Store& store) {
  std::string bytes;
  const rocksdb::Status status = store.db->Get({}, store.meta, "base", &bytes);
  if (status.IsNotFound()) return LogTail{};
  if (!status.ok()) return translate(status, "cannot read where the log begins");
  LogTail base;
  if (bytes.size() == kBaseBytes) {
    std::uint64_t numbers[2] = {};
    for (unsigned i = 0; i < 16; ++i)
      numbers[i / 8] |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * (i % 8);
    base.last = {numbers[0]};
    base.last_time = {static_cast<std::int64_t>(numbers[1])};
    std::memcpy(base.chain.bytes.data(), bytes.data() + 16, base.chain.bytes.size());
  }
  // Encoding it again compares the check, and refuses any other size: `base` is the default then.
  if (bytes != base_bytes(base))
    return Error{ErrorCode::corrupt, "the record of where the log begins is damaged"};
  return base;
}

std::string epoch_key(Epoch epoch) { return std::string(kEpochPrefix) + seq_key({epoch.value}); }

Result<std::map<Epoch, std::string>> read_epochs(const Store& store) {
  std::map<Epoch, std::string> epochs;
  const std::unique_ptr<rocksdb::Iterator> entries(store.db->NewIterator({}, store.meta));
  const rocksdb::Slice prefix(kEpochPrefix.data(), kEpochPrefix.size());
  for (entries->Seek(prefix); entries->Valid() && entries->key().starts_with(prefix);
       entries->Next())
    epochs[Epoch{seq_of_key(entries->key()).value}] = entries->value().ToString();
  if (!entries->status().ok()) return translate(entries->status(), "cannot read the epochs");
  return epochs;
}

std::uint64_t raw_bytes(const Store& store) {
  // RocksDB's own figure for memory counts reserved blocks, which are megabytes for one object.
  // Keys ascend with time, so objects that are in no table are behind the last key of the tables.
  rocksdb::ColumnFamilyMetaData tables;
  store.db->GetColumnFamilyMetaData(store.raw, &tables);
  std::uint64_t bytes = 0;
  std::string last;
  for (const rocksdb::LevelMetaData& level : tables.levels)
    for (const rocksdb::SstFileMetaData& table : level.files) {
      bytes += table.size;
      last = std::max(last, table.largestkey);
    }
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> objects(store.db->NewIterator(options, store.raw));
  for (objects->Seek(last); objects->Valid(); objects->Next())
    if (objects->key() != rocksdb::Slice(last)) bytes += objects->value().size();
  return bytes;
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
  constexpr std::size_t kAround = 3 * 4 + 1 + 8;  // sizes, kind, and the seq that follows
  std::string prefix;
  prefix.reserve(source.size() + key.namespace_.size() + key.name.size() + kAround);
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

std::map<Epoch, std::string> news_of_epochs(std::span<const Event> events,
                                            const std::map<Epoch, std::string>& known) {
  std::map<Epoch, std::string> news;
  const Epoch epoch = events.front().epoch;
  const auto found = known.find(epoch);
  std::string version = found == known.end() ? "" : found->second;
  for (const Event& event : events)
    if (const auto* started = std::get_if<EpochStarted>(&event.fact))
      version = started->program_version;
  if (found == known.end() || found->second != version) news[epoch] = std::move(version);
  return news;
}

}  // namespace fairlead
