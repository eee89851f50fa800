// Values by API server and object, found by hash.
//
// Every fact of a stream is looked up by its object. Among 100,000 nodes that are seventeen
// comparisons of a source, a kind and two names; here it is a few of the source, and a hash.
#pragma once

#include <map>
#include <string>

#include "engine/fold/name_table.h"
#include "schema/event.h"

namespace fairlead {

/// Pointers and references to values stay good until the entry is erased. There is no way to walk
/// the entries, so no result can depend on their order.
template <class Value>
class ObjectTable {
 public:
  /// Null if there is none.
  Value* find(const SourceName& source, const ObjectKey& key) {
    NameTable<Value>* table = table_of(source, key.kind);
    return table ? table->find(Name(key)) : nullptr;
  }
  const Value* find(const SourceName& source, const ObjectKey& key) const {
    return const_cast<ObjectTable*>(this)->find(source, key);
  }
  /// Made if it is not there.
  Value& at(const SourceName& source, const ObjectKey& key) {
    return tables_[source][key.kind][Name(key)];
  }
  void erase(const SourceName& source, const ObjectKey& key) {
    if (NameTable<Value>* table = table_of(source, key.kind)) table->erase(Name(key));
  }

 private:
  /// "namespace/name"; of an object without a namespace its name, which is not copied.
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
