// Private to the log: which events of a group commit are about which objects.
//
// A commit has one entry for each kind of object in it, not one for each event: appends are
// frequent and must be cheap, and most events are never looked up. The index names candidates: a
// search decodes the events that it names and compares them
// (docs/decisions/0017-one-index-entry-a-commit-and-kind.md).
//
// Entries of the column family `by_object`:
//   key    "k", the kind (1 byte), the first seq of the commit (8 bytes, big-endian)
//   value  for each event about an object of that kind, in order: the mark of the object and the
//          place of the event in its commit, from 0 (4 bytes each, little-endian)
// and for the signs (is_sign) in a commit:
//   key    "s", the first seq of the commit (8 bytes, big-endian)
//   value  for each sign, in order: the mark of its source and its place
//
// Logs of older programs also have entries of another form, which are read and no longer written:
// object_prefix and the seq of one event (8 bytes, big-endian), without a value. They begin with a
// zero byte (the high byte of a length), so they sort before the others.
#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/log/rocksdb/rocksdb_store.h"
#include "schema/event.h"

namespace fairlead {

/// Returns the 32-bit hash that represents an object in the index. Other objects may have the same.
std::uint32_t mark_of(std::string_view holder, const ObjectKey& key);
/// Returns the hash that represents a source there.
std::uint32_t mark_of(std::string_view source);

/// The index entries of one group commit.
class CommitIndex {
 public:
  /// Adds the event at `place` of the commit. Places must ascend.
  void add(const Event& event, std::size_t place);
  /// Writes the entries of the commit that begins with `first` to `batch`, and clears them.
  rocksdb::Status put(rocksdb::WriteBatch& batch, const Store& store, Seq first);

 private:
  std::vector<std::pair<Kind, std::string>> values_;  ///< of the kinds that were met
  std::string signs_;
};

/// Returns the events about an object from `first` to `last`, ascending. Leaves out events that are
/// pruned during the search. Fails with `corrupt` if the index or a pack that it names is damaged.
Result<std::vector<Seq>> find_in_index(const Store& store, std::string_view holder,
                                       const ObjectKey& key, Seq first, Seq last);
/// Returns the newest `most` of these seqs, found from `last` backwards.
Result<std::vector<Seq>> find_newest_in_index(const Store& store, std::string_view holder,
                                              const ObjectKey& key, Seq first, Seq last,
                                              std::size_t most);

/// What the index holds of the signs of a source.
struct IndexedSigns {
  std::vector<Seq> seqs;  ///< ascending
  Seq first;  ///< first seq of the first commit with a sign of any source; after `last` if none has
};
/// Finds the signs of `source` from `first` to `last`, as find_in_index() does.
Result<IndexedSigns> find_signs(const Store& store, std::string_view source, Seq first, Seq last);

}  // namespace fairlead
