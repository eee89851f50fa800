// Values by API server and object, found by hash.
//
// Every fact of a stream is looked up by its object. In an ordered map of 100,000 nodes that is
// seventeen comparisons of a source, a kind and two names; here it is a few of the source, and a
// hash.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/base/packed_table.h"
#include "schema/event.h"

namespace fairlead {

/// The text by which a table of one kind knows an object: "namespace/name". For an object without a
/// namespace it is a view of its name, without a copy; `key` must outlive it.
class TableName {
 public:
  explicit TableName(const ObjectKey& key) : key_(key) {
    if (!key.namespace_.empty()) joined_ = key.namespace_ + "/" + key.name;
  }
  operator std::string_view() const { return joined_.empty() ? key_.name : joined_; }  // NOLINT

 private:
  const ObjectKey& key_;
  std::string joined_;
};

/// Pointers and references to values are valid until the entry is erased. The entries cannot be
/// walked, so no result can depend on their order.
template <class Value>
class ObjectTable {
 public:
  /// Returns the value of an object; null if there is none.
  Value* find(const SourceName& source, const ObjectKey& key) {
    PackedTable<Value>* table = table_of(source, key.kind);
    return table ? table->find(TableName(key)) : nullptr;
  }
  const Value* find(const SourceName& source, const ObjectKey& key) const {
    return const_cast<ObjectTable*>(this)->find(source, key);
  }
  /// Returns the value of an object, and makes it first if there is none.
  Value& find_or_make(const SourceName& source, const ObjectKey& key) {
    return tables_[source][key.kind].find_or_make(TableName(key));
  }
  void erase(const SourceName& source, const ObjectKey& key) {
    if (PackedTable<Value>* table = table_of(source, key.kind)) table->erase(TableName(key));
  }
  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& [source, kinds] : tables_)
      for (const auto& [kind, table] : kinds) count += table.size();
    return count;
  }

 private:
  PackedTable<Value>* table_of(const SourceName& source, Kind kind) {
    const auto of_source = tables_.find(source);
    if (of_source == tables_.end()) return nullptr;
    const auto of_kind = of_source->second.find(kind);
    return of_kind == of_source->second.end() ? nullptr : &of_kind->second;
  }

  std::map<SourceName, std::map<Kind, PackedTable<Value>>> tables_;
};

}  // namespace fairlead
