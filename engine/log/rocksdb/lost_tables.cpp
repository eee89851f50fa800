#include "engine/log/rocksdb/lost_tables.h"

#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace fairlead {
namespace {

namespace fs = std::filesystem;

std::set<std::string> tables_listed(const Store& store) {
  std::vector<rocksdb::LiveFileMetaData> files;
  store.db->GetLiveFilesMetaData(&files);
  std::set<std::string> names;
  for (const rocksdb::LiveFileMetaData& file : files) names.insert(file.name.substr(1));
  return names;
}

/// Whether the entry may be missing: it was pruned, or belongs to events behind `contents`.
bool may_be_missing(const LogContents& contents, rocksdb::ColumnFamilyHandle* family,
                    rocksdb::Slice key) {
  if (family != contents.store->meta) {
    const Seq seq = seq_of_key(key);
    return seq <= contents.base.last || seq > contents.tail.last;
  }
  if (!key.starts_with(rocksdb::Slice(kEpochPrefix.data(), kEpochPrefix.size()))) return true;
  const auto kept = read_epochs(*contents.store);
  return kept && !kept->empty() && Epoch{seq_of_key(key).value} < kept->begin()->first;
}

/// Returns the first entry of `table` that the database should have and lacks. Of events and index
/// one entry decides, because the entries of a table are lost together; epochs are few, and each is
/// looked up.
std::optional<std::string> missing_key(const LogContents& contents, const fs::path& table) {
  rocksdb::SstFileReader reader{rocksdb::Options()};
  if (!reader.Open(table.string()).ok()) return std::nullopt;  // it was never finished
  const Store& store = *contents.store;
  const std::string family_name = reader.GetTableProperties()->column_family_name;
  rocksdb::ColumnFamilyHandle* family = nullptr;
  for (rocksdb::ColumnFamilyHandle* known : {store.events, store.by_object, store.meta})
    if (known->GetName() == family_name) family = known;
  if (family == nullptr) return std::nullopt;
  const std::unique_ptr<rocksdb::Iterator> entries(reader.NewIterator({}));
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    if (may_be_missing(contents, family, entries->key())) continue;
    std::string value;
    if (store.db->Get({}, family, entries->key(), &value).IsNotFound())
      return entries->key().ToString();
    if (family != store.meta) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<LogDamage> lost_table(const fs::path& store, const LogContents& contents) {
  const std::set<std::string> listed = tables_listed(*contents.store);
  std::optional<LogDamage> first;
  std::error_code error;
  for (fs::directory_iterator files(store, error); !error && files != fs::directory_iterator();
       files.increment(error)) {
    const std::string name = files->path().filename().string();
    if (!name.ends_with(".sst") || listed.contains(name)) continue;
    const auto key = missing_key(contents, files->path());
    if (!key) continue;
    const bool of_event = !key->starts_with(kEpochPrefix);
    const Seq at = of_event ? seq_of_key(*key) : next(contents.base.last);
    if (!first || at < first->at)
      first = LogDamage{at,
                        "the file MANIFEST-* in log/ is not as it was written: it does not "
                        "list the table " +
                            name};
  }
  return first;
}

}  // namespace fairlead
