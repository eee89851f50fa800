// Values by name, found by hash and walked in order.
//
// A lookup among a hundred thousand nodes costs a std::map fifteen cache misses and this two. The
// order of hashing is nowhere to be seen: whoever walks gets the entries sorted, so no result can
// depend on it.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fairlead {

/// A value. Pointers and references to values stay good until the entry is erased.
template <class Value>
class NameTable {
 public:
  using mapped_type = Value;
  using Entry = std::pair<const std::string, Value>;

  /// Null if there is none.
  Value* find(const std::string& name) {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : &at->second;
  }
  const Value* find(const std::string& name) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : &at->second;
  }
  bool contains(const std::string& name) const { return entries_.contains(name); }
  Value& at(const std::string& name) { return entries_.at(name); }
  const Value& at(const std::string& name) const { return entries_.at(name); }
  /// Made if it is not there.
  Value& operator[](const std::string& name) { return entries_[name]; }

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  void erase(const std::string& name) { entries_.erase(name); }
  /// Erases every entry of which `erases(name, value)` is true. It is asked in no order that means
  /// anything, so it must do nothing but answer.
  template <class Erases>
  void erase_if(const Erases& erases) {
    std::erase_if(entries_, [&](const Entry& entry) { return erases(entry.first, entry.second); });
  }

  /// Every entry, bytewise by name.
  std::vector<Entry*> sorted() { return sorted_entries<Entry*>(entries_); }
  std::vector<const Entry*> sorted() const { return sorted_entries<const Entry*>(entries_); }

  friend bool operator==(const NameTable&, const NameTable&) = default;

 private:
  template <class Pointer, class Entries>
  static std::vector<Pointer> sorted_entries(Entries& entries) {
    std::vector<Pointer> all;
    all.reserve(entries.size());
    for (auto& entry : entries) all.push_back(&entry);
    std::sort(all.begin(), all.end(),
              [](const Entry* a, const Entry* b) { return a->first < b->first; });
    return all;
  }

  std::unordered_map<std::string, Value> entries_;
};

}  // namespace fairlead
