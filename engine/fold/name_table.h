// Values by name, found by hash and walked in order.
//
// A lookup among a hundred thousand nodes costs a std::map fifteen cache misses and this two: the
// slot of the hash, and the entry. The hash order is not visible: a walk yields the entries sorted,
// so no result can depend on it (docs/decisions/0021-memory-of-a-node.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/name_slots.h"

namespace fairlead {

/// A hash table. Pointers and references to values are valid until the entry is erased.
template <class Value>
class NameTable {
 public:
  using mapped_type = Value;
  using Entry = std::pair<const std::string, Value>;

  NameTable() = default;
  ~NameTable() = default;
  NameTable(NameTable&&) noexcept = default;
  NameTable& operator=(NameTable&&) noexcept = default;
  NameTable(const NameTable& other) : slots_(other.slots_.count()) {
    other.for_each_slot([this](const Slot& slot) {
      slots_.adopt({slot.hash, std::make_unique<Entry>(*slot.entry)});
    });
  }
  NameTable& operator=(const NameTable& other) { return *this = NameTable(other); }

  /// Returns null if there is none.
  Value* find(const std::string& name) { return value_of(slots_.find(name)); }
  const Value* find(const std::string& name) const { return value_of(slots_.find(name)); }
  /// The entry must exist.
  const Entry& entry(const std::string& name) const { return **slots_.find(name); }
  bool contains(const std::string& name) const { return slots_.find(name) != nullptr; }
  /// The entry must exist.
  Value& at(const std::string& name) { return (*slots_.find(name))->second; }
  const Value& at(const std::string& name) const { return (*slots_.find(name))->second; }
  /// Creates the entry if there is none.
  Value& operator[](const std::string& name) {
    if (Value* value = find(name)) return *value;
    return slots_.add(hash_of(name), std::make_unique<Entry>(name, Value{}))->second;
  }

  // For a caller that looks up many names: it prefetches all slots first, then all entries.
  static std::size_t hash_of(const std::string& name) { return hash_of_name(name); }
  void fetch_slot(std::size_t hash) const {
    if (const Slot* slot = slots_.home(hash)) __builtin_prefetch(slot);
  }
  /// Returns the first entry whose name has this hash, which need not be the one looked for; null
  /// if there is none.
  const Entry* probable(std::size_t hash) const {
    return empty() ? nullptr : slots_.probable(hash).get();
  }

  std::size_t size() const { return slots_.size(); }
  bool empty() const { return size() == 0; }
  void clear() { *this = NameTable(); }
  void erase(const std::string& name) { slots_.remove(name); }
  /// Erases every entry for which `erases(name, value)` is true. The calls come in hash order, so
  /// `erases` must have no side effects.
  template <class Erases>
  void erase_if(const Erases& erases) {
    Slots kept(slots_.count());
    for (std::size_t i = 0; i < slots_.count(); ++i)
      if (Slot& slot = slots_.slot(i); slot.entry && !erases(slot.entry->first, slot.entry->second))
        kept.adopt(std::move(slot));
    slots_ = std::move(kept);
  }

  /// Returns every entry, sorted bytewise by name.
  std::vector<Entry*> sorted() { return sorted_entries<Entry*>(); }
  std::vector<const Entry*> sorted() const { return sorted_entries<const Entry*>(); }

  friend bool operator==(const NameTable& a, const NameTable& b) {
    if (a.size() != b.size()) return false;
    bool same = true;
    a.for_each_slot([&](const Slot& slot) {
      const Value* other = b.find(slot.entry->first);
      same = same && other != nullptr && slot.entry->second == *other;
    });
    return same;
  }

 private:
  using Handle = std::unique_ptr<Entry>;
  using Slots = NameSlots<Handle>;
  using Slot = typename Slots::Slot;

  static Value* value_of(const Handle* entry) { return entry ? &(*entry)->second : nullptr; }

  template <class Visit>
  void for_each_slot(const Visit& visit) const {
    for (std::size_t i = 0; i < slots_.count(); ++i)
      if (const Slot& slot = slots_.slot(i); slot.entry) visit(slot);
  }
  template <class Pointer>
  std::vector<Pointer> sorted_entries() const {
    std::vector<Pointer> all;
    all.reserve(size());
    for_each_slot([&all](const Slot& slot) { all.push_back(slot.entry.get()); });
    std::sort(all.begin(), all.end(),
              [](const Entry* a, const Entry* b) { return a->first < b->first; });
    return all;
  }

  Slots slots_;
};

}  // namespace fairlead
