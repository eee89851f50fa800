#include "engine/log/rocksdb/object_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "engine/log/pack.h"
#include "schema/codec.h"
#include "schema/event_json.h"

namespace fairlead {
namespace {

constexpr char kEntryOfCommit = 'k';
constexpr std::string_view kEntryOfSigns = "s";
constexpr std::size_t kEntryBytes = 8;

static_assert(std::endian::native == std::endian::little, "marks are stored as they are");

/// Mixes eight bytes a step, because every appended event about an object is hashed.
///
/// Its results are stored: another prime, another order of the steps or another width would find
/// nothing in the logs that exist, without an error. The same holds for append_entry() and the
/// keys.
std::uint64_t mix(std::uint64_t hash, std::string_view text) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;
  const auto step = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  };
  step(text.size());
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    step(word);
  }
  std::uint64_t rest = 0;
  if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
  step(rest);
  return hash;
}

std::string entry_prefix(Kind kind) { return {kEntryOfCommit, static_cast<char>(kind)}; }

bool is_about(const Event& event, std::string_view holder, const ObjectKey& key) {
  const ObjectKey* object = object_of(event.fact);
  return object != nullptr && *object == key && holder_of(event) == holder;
}

void append_entry(std::string& value, std::uint32_t mark, std::size_t place) {
  const std::uint32_t entry[2] = {mark, static_cast<std::uint32_t>(place)};
  static_assert(sizeof entry == kEntryBytes);
  value.append(reinterpret_cast<const char*>(entry), sizeof entry);
}

/// Returns the places that the value of an entry names for `mark`.
///
/// 32 bits are enough, because a mark decides nothing: each event that it names is decoded and
/// compared (Search::wanted). Another object has the same mark with 2^-32, so a search over a
/// billion events of a kind decodes a pack in vain with a probability of one in five. A wider mark
/// would make each entry larger for that.
std::vector<std::uint32_t> places_of(std::uint32_t mark, std::string_view entry) {
  std::vector<std::uint32_t> places;
  for (; entry.size() >= kEntryBytes; entry.remove_prefix(kEntryBytes)) {
    std::uint32_t found[2];
    std::memcpy(found, entry.data(), sizeof found);
    if (found[0] == mark) places.push_back(found[1]);
  }
  return places;
}

using Wanted = std::function<bool(const Event&)>;

/// The state of a search: what it has found, and the buffer that it reuses from pack to pack.
struct Search {
  const Store& store;
  Seq first;
  Seq last;
  Wanted wanted;  ///< decides on the decoded event: other objects may have the same mark
  std::vector<Seq> found;
  UnpackedRecords unpacked;

  Result<void> look_into(Seq pack, const std::vector<std::uint32_t>& places);
  Result<void> old_entries(const std::string& prefix);
  Result<void> entries_of_commits(std::string_view prefix, std::uint32_t mark);
  /// The same from the last commit backwards, until `most` are found, or a few more.
  Result<void> newest_entries(std::string_view prefix, std::uint32_t mark, std::size_t most);
};

Error in_pack(Seq pack, Error error) {
  return in_context("seq " + std::to_string(pack.value), std::move(error));
}

// A search reads each pack once: in the block cache it would only take the place of others.
Result<void> Search::look_into(Seq pack, const std::vector<std::uint32_t>& places) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  rocksdb::PinnableSlice value;
  const auto status = store.db->Get(options, store.events, seq_key(pack), &value);
  if (status.IsNotFound()) return {};  // pruned meanwhile
  if (!status.ok()) return translate(status, "cannot read the log");
  const auto header = read_pack_header(value.ToStringView());
  if (!header) return in_pack(pack, header.error());
  if (auto done = unpack_into(value.ToStringView(), *header, unpacked); !done)
    return in_pack(pack, done.error());
  for (const std::uint32_t place : places) {
    if (place >= unpacked.records.size())
      return Error{ErrorCode::corrupt, "the index of objects names an event that is not there"};
    const auto event = decode(unpacked.records[place]);
    if (!event) return in_pack(pack, event.error());
    if (wanted(*event)) found.push_back(event->seq);
  }
  return {};
}

// Logs outlive programs. A log from before docs/decisions/0017-one-index-entry-a-commit-and-kind.md
// has an entry for each event, whose key is the whole name: it needs no comparison with the event.
// It is not rewritten, so a search asks for both forms. A longer key is of another object, whose
// name begins with this one's.
Result<void> Search::old_entries(const std::string& prefix) {
  const std::unique_ptr<rocksdb::Iterator> entries(store.db->NewIterator({}, store.by_object));
  for (entries->Seek(prefix + seq_key(first));
       entries->Valid() && entries->key().starts_with(prefix); entries->Next()) {
    const Seq seq = seq_of_key(entries->key());
    if (entries->key().size() == prefix.size() + 8 && seq <= last) found.push_back(seq);
  }
  if (entries->status().ok()) return {};
  return translate(entries->status(), "cannot read the index of objects");
}

Result<void> Search::entries_of_commits(std::string_view prefix, std::uint32_t mark) {
  const rocksdb::Slice begins(prefix.data(), prefix.size());
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> entries(store.db->NewIterator(options, store.by_object));
  for (entries->Seek(std::string(prefix) + seq_key(first));
       entries->Valid() && entries->key().starts_with(begins); entries->Next()) {
    const Seq pack = seq_of_key(entries->key());
    if (pack > last) break;
    const auto places = places_of(mark, entries->value().ToStringView());
    if (places.empty()) continue;
    if (auto looked = look_into(pack, places); !looked) return looked;
  }
  if (entries->status().ok()) return {};
  return translate(entries->status(), "cannot read the index of objects");
}

Result<void> Search::newest_entries(std::string_view prefix, std::uint32_t mark, std::size_t most) {
  const rocksdb::Slice begins(prefix.data(), prefix.size());
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> entries(store.db->NewIterator(options, store.by_object));
  for (entries->SeekForPrev(std::string(prefix) + seq_key(last));
       entries->Valid() && entries->key().starts_with(begins) && found.size() < most;
       entries->Prev()) {
    const Seq pack = seq_of_key(entries->key());
    if (pack < first) break;
    const auto places = places_of(mark, entries->value().ToStringView());
    if (places.empty()) continue;
    const std::vector<Seq> later = std::exchange(found, {});
    if (auto looked = look_into(pack, places); !looked) return looked;
    found.insert(found.end(), later.begin(), later.end());
  }
  if (entries->status().ok()) return {};
  return translate(entries->status(), "cannot read the index of objects");
}

}  // namespace

std::uint32_t mark_of(std::string_view holder, const ObjectKey& key) {
  const std::uint64_t hash = mix(mix(mix(0, holder), key.namespace_), key.name);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

std::uint32_t mark_of(std::string_view source) {
  const std::uint64_t hash = mix(0, source);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

void CommitIndex::add(const Event& event, std::size_t place) {
  if (is_sign(event)) return append_entry(signs_, mark_of(event.source), place);
  const ObjectKey* object = object_of(event.fact);
  if (object == nullptr) return;
  const auto of_kind = [object](const auto& value) { return value.first == object->kind; };
  auto value = std::find_if(values_.begin(), values_.end(), of_kind);
  if (value == values_.end()) value = values_.emplace(values_.end(), object->kind, std::string());
  append_entry(value->second, mark_of(holder_of(event), *object), place);
}

rocksdb::Status CommitIndex::put(rocksdb::WriteBatch& batch, const Store& store, Seq first) {
  rocksdb::Status status;
  for (const auto& [kind, value] : values_)
    if (status.ok())
      status = batch.Put(store.by_object, entry_prefix(kind) + seq_key(first), value);
  if (status.ok() && !signs_.empty())
    status = batch.Put(store.by_object, std::string(kEntryOfSigns) + seq_key(first), signs_);
  values_.clear();
  signs_.clear();
  return status;
}

Result<std::vector<Seq>> find_in_index(const Store& store, std::string_view holder,
                                       const ObjectKey& key, Seq first, Seq last) {
  const auto wanted = [&](const Event& event) { return is_about(event, holder, key); };
  Search search{store, first, last, wanted, {}, {}};
  if (auto done = search.old_entries(object_prefix(holder, key)); !done) return done.error();
  const std::size_t old = search.found.size();
  if (auto done = search.entries_of_commits(entry_prefix(key.kind), mark_of(holder, key)); !done)
    return done.error();
  // An older program may have appended to a log of this one, so the two forms can interleave.
  if (old > 0) std::sort(search.found.begin(), search.found.end());
  return std::move(search.found);
}

Result<std::vector<Seq>> find_newest_in_index(const Store& store, std::string_view holder,
                                              const ObjectKey& key, Seq first, Seq last,
                                              std::size_t most) {
  const auto wanted = [&](const Event& event) {
    return event.seq <= last && is_about(event, holder, key);
  };
  Search search{store, first, last, wanted, {}, {}};
  if (auto done = search.newest_entries(entry_prefix(key.kind), mark_of(holder, key), most); !done)
    return done.error();
  std::vector<Seq> newest = std::exchange(search.found, {});
  if (auto done = search.old_entries(object_prefix(holder, key)); !done) return done.error();
  newest.insert(newest.end(), search.found.begin(), search.found.end());
  if (!search.found.empty()) std::sort(newest.begin(), newest.end());
  if (newest.size() > most)
    newest.erase(newest.begin(), newest.end() - static_cast<std::ptrdiff_t>(most));
  return newest;
}

Result<IndexedSigns> find_signs(const Store& store, std::string_view source, Seq first, Seq last) {
  const auto wanted = [&](const Event& event) { return is_sign(event) && event.source == source; };
  Search search{store, first, last, wanted, {}, {}};
  if (auto done = search.entries_of_commits(kEntryOfSigns, mark_of(source)); !done)
    return done.error();
  const std::unique_ptr<rocksdb::Iterator> entries(store.db->NewIterator({}, store.by_object));
  entries->Seek(std::string(kEntryOfSigns) + seq_key(first));
  if (!entries->status().ok())
    return translate(entries->status(), "cannot read the index of objects");
  const bool any = entries->Valid() && entries->key().starts_with(rocksdb::Slice(
                                           kEntryOfSigns.data(), kEntryOfSigns.size()));
  return IndexedSigns{std::move(search.found), any ? seq_of_key(entries->key()) : next(last)};
}

}  // namespace fairlead
