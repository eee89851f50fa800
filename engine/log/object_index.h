// Private to the log: which events of a group commit are about which objects.
//
// The index costs a commit one entry for each kind of object in it, not one an event: an append is
// judged by what it does an event, and most events are asked about never. It says where to look and
// not what is there: who asks compares the events that it names.
//
// Entries of the column family `by_object`:
//   key    "k", the kind (1 byte), the first seq of the commit (8 bytes, big-endian)
//   value  for each event about an object of that kind, in order: the mark of the object and the
//          place of the event in its commit, from 0 (4 bytes each, little-endian)
// and for the signs (is_sign) in a commit:
//   key    "s", the first seq of the commit
//   value  for each of them, in order: the mark of its source and its place
//
// Logs of older programs have entries of another form beside them, which are read and not written:
// object_prefix and the seq of one event (8 bytes, big-endian), without a value. They begin with a
// zero byte.
#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/log/rocksdb_store.h"
#include "schema/event.h"

namespace fairlead {

/// What stands for an object in the index. Others may have the same.
std::uint32_t mark_of(std::string_view holder, const ObjectKey& key);
/// What stands for a source there.
std::uint32_t mark_of(std::string_view source);

/// The index entries of one group commit.
class CommitIndex {
 public:
  /// Takes in the event at `place` of the commit. They come in order.
  void add(const Event& event, std::size_t place);
  /// Puts the entries of the commit that begins with `first` into `batch`, and forgets them.
  rocksdb::Status put(rocksdb::WriteBatch& batch, const Store& store, Seq first);

 private:
  std::vector<std::pair<Kind, std::string>> values_;  ///< of the kinds that were met
  std::string signs_;
};

/// The events about an object, ascending, from `first` to `last`. What is pruned while it is asked
/// for is left out.
Result<std::vector<Seq>> find_in_index(const Store& store, std::string_view holder,
                                       const ObjectKey& key, Seq first, Seq last);

/// What the index tells of the signs of a source.
struct IndexedSigns {
  std::vector<Seq> seqs;  ///< ascending
  Seq first;              ///< of the first commit with a sign of any source; behind the last: none
};
/// From `first` to `last`, as find_in_index.
Result<IndexedSigns> find_signs(const Store& store, std::string_view source, Seq first, Seq last);

}  // namespace fairlead
