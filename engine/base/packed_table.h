// A set of texts with a value each, found by hash, in as little memory as a pointer to one block
// each allows.
//
// A hub keeps some tables with an entry for every object of the fleet. A node of
// std::unordered_map and its name take two allocations and some 110 bytes beside the value and the
// characters of the name; an entry here takes one and some 24
// (docs/decisions/0021-memory-of-a-node.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

/// Pointers and references to values are valid until the entry is erased.
template <class Value>
class PackedTable {
 public:
  /// Returns null if there is none.
  Value* find(std::string_view text) {
    const std::size_t at = place_of(hash_of(text), text);
    return at == kNone ? nullptr : &entries_[at]->value;
  }
  const Value* find(std::string_view text) const {
    return const_cast<PackedTable*>(this)->find(text);
  }
  /// Returns the value of `text`, and makes it first if there is none.
  Value& find_or_make(std::string_view text) {
    if (Value* value = find(text)) return *value;
    if ((size_ + 1) * 8 > hashes_.size() * 7) grow();
    ++size_;
    return adopt(hash_of(text), Entry::make(text))->value;
  }
  /// Does nothing if there is none.
  void erase(std::string_view text) {
    if (const std::size_t at = place_of(hash_of(text), text); at != kNone) remove(at);
    if (size_ == 0) *this = {};
  }
  std::size_t size() const { return size_; }

  /// Calls `visit(text, value)` for every entry, in no order that a result may depend on.
  template <class Visit>
  void for_each(const Visit& visit) {
    for (const Handle& entry : entries_)
      if (entry) visit(entry->text(), entry->value);
  }

 private:
  struct Entry {
    Value value{};
    std::uint32_t size = 0;  // of the text, which lies behind this member

    static auto make(std::string_view text) {
      auto* const entry = ::new (::operator new(sizeof(Entry) + text.size())) Entry;
      entry->size = static_cast<std::uint32_t>(text.size());
      std::copy(text.begin(), text.end(), reinterpret_cast<char*>(&entry->size + 1));
      return Handle(entry);
    }
    std::string_view text() const { return {reinterpret_cast<const char*>(&size + 1), size}; }
  };
  struct End {
    void operator()(Entry* entry) const {
      entry->~Entry();
      ::operator delete(entry);
    }
  };
  using Handle = std::unique_ptr<Entry, End>;
  static constexpr std::size_t kNone = SIZE_MAX, kPlacesMin = 4;

  static std::uint32_t hash_of(std::string_view text) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
  }
  // Any number of places will do, so that the table may grow by a quarter.
  std::size_t home_of(std::uint32_t hash) const {
    return static_cast<std::size_t>(std::uint64_t{hash} * hashes_.size() >> 32);
  }
  std::size_t after(std::size_t at) const { return at + 1 == hashes_.size() ? 0 : at + 1; }
  // How far `at` is behind `from`, round the end.
  std::size_t distance(std::size_t from, std::size_t at) const {
    return at >= from ? at - from : at + hashes_.size() - from;
  }

  // An entry lies at its home or behind it, with no empty place between.
  std::size_t place_of(std::uint32_t hash, std::string_view text) const {
    if (size_ == 0) return kNone;
    for (std::size_t at = home_of(hash); entries_[at]; at = after(at))
      if (hashes_[at] == hash && entries_[at]->text() == text) return at;
    return kNone;
  }
  Entry* adopt(std::uint32_t hash, Handle entry) {
    std::size_t at = home_of(hash);
    while (entries_[at]) at = after(at);
    hashes_[at] = hash;
    entries_[at] = std::move(entry);
    return entries_[at].get();
  }
  // Entries that a collision pushed beyond the hole move back, because a search ends at an empty
  // place.
  void remove(std::size_t hole) {
    --size_;
    entries_[hole].reset();
    for (std::size_t at = after(hole); entries_[at]; at = after(at)) {
      if (distance(home_of(hashes_[at]), at) < distance(hole, at)) continue;
      hashes_[hole] = hashes_[at];
      entries_[hole] = std::move(entries_[at]);
      hole = at;
    }
  }
  void grow() {
    PackedTable larger;
    const std::size_t places = std::max(kPlacesMin, hashes_.size() + hashes_.size() / 4 + 1);
    larger.hashes_.resize(places);
    larger.entries_.resize(places);
    for (std::size_t at = 0; at < entries_.size(); ++at)
      if (entries_[at]) larger.adopt(hashes_[at], std::move(entries_[at]));
    larger.size_ = size_;
    *this = std::move(larger);
  }

  std::vector<std::uint32_t> hashes_;
  std::vector<Handle> entries_;
  std::size_t size_ = 0;
};

}  // namespace fairlead
