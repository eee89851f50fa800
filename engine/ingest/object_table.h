// Values by API server and object, found by hash.
//
// Every fact of a stream is looked up by its object. In an ordered map of 100,000 nodes that is
// seventeen comparisons of a source, a kind and two names; here it is a few of the source, and a
// hash.
#pragma once

#include <map>
#include <string>

#include "engine/fold/name_table.h"
#include "schema/event.h"

namespace fairlead {

/// Pointers and references to values are valid until the entry is erased. The entries cannot be
/// walked, so no result can depend on their order.
template <class Value>
class ObjectTable {
 public:
  /// Returns the value of an object; null if there is none.
  Value* find(const SourceName& source, const ObjectKey& key) {
    NameTable<Value>* table = table_of(source, key.kind);
    return table ? table->find(Name(key)) : nullptr;
  }
  const Value* find(const SourceName& source, const ObjectKey& key) const {
    return const_cast<ObjectTable*>(this)->find(source, key);
  }
  /// Returns the value of an object, and makes it first if there is none.
  Value& find_or_make(const SourceName& source, const ObjectKey& key) {
    return tables_[source][key.kind][Name(key)];
  }
  void erase(const SourceName& source, const ObjectKey& key) {
    if (NameTable<Value>* table = table_of(source, key.kind)) table->erase(Name(key));
  }
  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& [source, kinds] : tables_)
      for (const auto& [kind, table] : kinds) count += table.size();
    return count;
  }

 private:
  /// "namespace/name"; for an object without a namespace a reference to its name, without a copy.
  class Name {
   public:
    explicit Name(const ObjectKey& key) : key_(key) {
      if (!key.namespace_.empty()) joined_ = key.namespace_ + "/" + key.name;
    }
    operator const std::string&() const { return joined_.empty() ? key_.name : joined_; }  // NOLINT

   private:
    const ObjectKey& key_;
    std::string joined_;
  };

  NameTable<Value>* table_of(const SourceName& source, Kind kind) {
    const auto of_source = tables_.find(source);
    if (of_source == tables_.end()) return nullptr;
    const auto of_kind = of_source->second.find(kind);
    return of_kind == of_source->second.end() ? nullptr : &of_kind->second;
  }

  std::map<SourceName, std::map<Kind, NameTable<Value>>> tables_;
};

}  // namespace fairlead
