// Values by name, found by hash and walked in order.
//
// A lookup among a hundred thousand nodes costs a std::map fifteen cache misses and this two: the
// slot of the hash, and the entry. The hash order is not visible: a walk yields the entries sorted,
// so no result can depend on it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/short_text.h"

namespace fairlead {

/// A hash table with open addressing. Pointers and references to values are valid until the entry
/// is erased.
template <class Value>
class NameTable {
 public:
  using mapped_type = Value;
  using Entry = std::pair<const std::string, Value>;

  NameTable() = default;
  ~NameTable() = default;
  NameTable(NameTable&& other) noexcept : NameTable() { swap(other); }
  NameTable& operator=(NameTable&& other) noexcept {
    NameTable(std::move(other)).swap(*this);
    return *this;
  }
  NameTable(const NameTable& other) : slots_(other.slots_.size()), size_(other.size_) {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (const Slot& slot = other.slots_[i]; slot.entry)
        slots_[i] = {slot.hash, std::make_unique<Entry>(*slot.entry)};
  }
  NameTable& operator=(const NameTable& other) {
    NameTable(other).swap(*this);
    return *this;
  }

  /// Returns null if there is none.
  Value* find(const std::string& name) { return value_of(entry_of(name)); }
  const Value* find(const std::string& name) const { return value_of(entry_of(name)); }
  bool contains(const std::string& name) const { return entry_of(name) != nullptr; }
  /// The entry must exist.
  Value& at(const std::string& name) { return entry_of(name)->second; }
  const Value& at(const std::string& name) const { return entry_of(name)->second; }
  /// Creates the entry if there is none.
  Value& operator[](const std::string& name) {
    if (slots_.empty()) resize(kSlotsMin);
    const std::size_t hash = hash_of(name);
    std::size_t at = place_of(hash, name);
    if (slots_[at].entry) return slots_[at].entry->second;
    if ((size_ + 1) * 4 > slots_.size() * 3) {
      resize(slots_.size() * 2);
      at = place_of(hash, name);
    }
    slots_[at] = {hash, std::make_unique<Entry>(name, Value{})};
    ++size_;
    return slots_[at].entry->second;
  }

  // For a caller that looks up many names: it prefetches all slots first, then all entries.
  static std::size_t hash_of(const std::string& name) { return hash_text(name); }
  void fetch_slot(std::size_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[home_of(hash)]);
  }
  /// Returns the first entry whose name has this hash, which need not be the one looked for; null
  /// if there is none.
  const Entry* probable(std::size_t hash) const {
    if (size_ == 0) return nullptr;
    std::size_t at = home_of(hash);
    while (slots_[at].entry && slots_[at].hash != hash) at = after(at);
    return slots_[at].entry.get();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { *this = NameTable(); }
  void erase(const std::string& name) {
    if (size_ == 0) return;
    std::size_t hole = place_of(hash_of(name), name);
    if (!slots_[hole].entry) return;
    slots_[hole].entry.reset();
    --size_;
    // Entries that a collision pushed beyond the hole move back, because a search ends at an empty
    // slot.
    for (std::size_t at = after(hole); slots_[at].entry; at = after(at)) {
      const std::size_t from_home = (at - home_of(slots_[at].hash)) & (slots_.size() - 1);
      if (from_home < ((at - hole) & (slots_.size() - 1))) continue;
      slots_[hole] = std::move(slots_[at]);
      hole = at;
    }
  }
  /// Erases every entry for which `erases(name, value)` is true. The calls come in hash order, so
  /// `erases` must have no side effects.
  template <class Erases>
  void erase_if(const Erases& erases) {
    NameTable kept;
    kept.resize(std::max(slots_.size(), kSlotsMin));
    for (Slot& slot : slots_)
      if (slot.entry && !erases(slot.entry->first, slot.entry->second)) kept.adopt(std::move(slot));
    swap(kept);
  }

  /// Returns every entry, sorted bytewise by name.
  std::vector<Entry*> sorted() { return sorted_entries<Entry*>(); }
  std::vector<const Entry*> sorted() const { return sorted_entries<const Entry*>(); }

  friend bool operator==(const NameTable& a, const NameTable& b) {
    return a.size_ == b.size_ &&
           std::all_of(a.slots_.begin(), a.slots_.end(), [&](const Slot& slot) {
             if (!slot.entry) return true;
             const Value* other = b.find(slot.entry->first);
             return other != nullptr && slot.entry->second == *other;
           });
  }

 private:
  // Holds the hash, so that a search reads few entries other than the one it looks for.
  struct Slot {
    std::size_t hash = 0;
    std::unique_ptr<Entry> entry;
  };
  static constexpr std::size_t kSlotsMin = 4;  // a power of two, as every number of slots

  static Value* value_of(Entry* entry) { return entry == nullptr ? nullptr : &entry->second; }
  std::size_t home_of(std::size_t hash) const { return hash & (slots_.size() - 1); }
  std::size_t after(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  // Returns the slot that has `name`, or the empty one where it belongs.
  std::size_t place_of(std::size_t hash, const std::string& name) const {
    std::size_t at = home_of(hash);
    while (slots_[at].entry &&
           (slots_[at].hash != hash || !same_text(slots_[at].entry->first, name)))
      at = after(at);
    return at;
  }
  Entry* entry_of(const std::string& name) const {
    return size_ == 0 ? nullptr : slots_[place_of(hash_of(name), name)].entry.get();
  }
  // Inserts a name that is not in the table; there must be room.
  void adopt(Slot slot) {
    std::size_t at = home_of(slot.hash);
    while (slots_[at].entry) at = after(at);
    slots_[at] = std::move(slot);
    ++size_;
  }
  void resize(std::size_t count) {
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(count));
    size_ = 0;
    for (Slot& slot : before)
      if (slot.entry) adopt(std::move(slot));
  }
  void swap(NameTable& other) noexcept {
    slots_.swap(other.slots_);
    std::swap(size_, other.size_);
  }
  template <class Pointer>
  std::vector<Pointer> sorted_entries() const {
    std::vector<Pointer> all;
    all.reserve(size_);
    for (const Slot& slot : slots_)
      if (slot.entry) all.push_back(slot.entry.get());
    std::sort(all.begin(), all.end(),
              [](const Entry* a, const Entry* b) { return a->first < b->first; });
    return all;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace fairlead
