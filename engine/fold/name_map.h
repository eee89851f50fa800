// Values by name, found by hash and walked in the order of the names.
//
// The fold looks up clusters, claims and queues some twenty times for an event and walks them
// rarely. Among fifty names a std::map costs six comparisons, most of them a wrong guess of the
// processor; the index beside it costs one. A NameTable (name_table.h) would be smaller, but sorts
// for each walk.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/short_text.h"

namespace fairlead {

/// A std::map by name with an index by hash. Iterators, pointers and references to an entry are
/// valid until it is erased, also after a move of the map.
template <class Value>
class NameMap {
  using Map = std::map<std::string, Value>;

 public:
  using mapped_type = Value;
  using iterator = typename Map::iterator;
  using const_iterator = typename Map::const_iterator;

  NameMap() = default;
  ~NameMap() = default;
  NameMap(NameMap&& other) noexcept
      : map_(std::exchange(other.map_, {})), slots_(std::exchange(other.slots_, {})) {}
  NameMap& operator=(NameMap&& other) noexcept {
    map_ = std::exchange(other.map_, {});
    slots_ = std::exchange(other.slots_, {});
    return *this;
  }
  NameMap(const NameMap& other) : map_(other.map_) { index_all(other.slots_.size()); }
  NameMap& operator=(const NameMap& other) { return *this = NameMap(other); }

  iterator begin() { return map_.begin(); }
  iterator end() { return map_.end(); }
  const_iterator begin() const { return map_.begin(); }
  const_iterator end() const { return map_.end(); }
  std::size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }

  /// Returns end() if there is none.
  iterator find(const std::string& name) {
    const Slot* slot = slot_of(name);
    return slot ? slot->entry : map_.end();
  }
  const_iterator find(const std::string& name) const {
    const Slot* slot = slot_of(name);
    return slot ? const_iterator(slot->entry) : map_.end();
  }
  bool contains(const std::string& name) const { return slot_of(name) != nullptr; }
  /// The entry must exist.
  Value& at(const std::string& name) { return existing(name)->second; }
  const Value& at(const std::string& name) const { return existing(name)->second; }
  /// Creates the entry if there is none.
  Value& operator[](const std::string& name) {
    if (const Slot* slot = slot_of(name)) return slot->entry->second;
    const iterator entry = map_.try_emplace(name).first;
    if (map_.size() * 4 > slots_.size() * 3)
      index_all(slots_.empty() ? kSlotsMin : slots_.size() * 2);
    else
      slots_[place_of(hash_text(name), name)] = {hash_text(name), entry, true};
    return entry->second;
  }

  void erase(const_iterator at) {
    remove_slot(place_of(hash_text(at->first), at->first));
    map_.erase(at);
  }
  /// Does nothing if there is none.
  void erase(const std::string& name) {
    if (const auto at = find(name); at != end()) erase(at);
  }
  void clear() { *this = NameMap(); }

  friend bool operator==(const NameMap& a, const NameMap& b) { return a.map_ == b.map_; }
  friend bool operator==(const NameMap& a, const std::map<std::string, Value>& b) {
    return a.map_ == b;
  }

 private:
  // Holds the hash, so that a search reads few entries other than the one it looks for.
  struct Slot {
    std::size_t hash = 0;
    iterator entry{};
    bool used = false;
  };
  static constexpr std::size_t kSlotsMin = 4;  // a power of two, as every number of slots

  std::size_t home_of(std::size_t hash) const { return hash & (slots_.size() - 1); }
  std::size_t after(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  // Returns the slot that has `name`, or the empty one where it belongs. There must be slots.
  std::size_t place_of(std::size_t hash, const std::string& name) const {
    std::size_t at = home_of(hash);
    while (slots_[at].used &&
           (slots_[at].hash != hash || !same_text(slots_[at].entry->first, name)))
      at = after(at);
    return at;
  }
  const Slot* slot_of(const std::string& name) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(hash_text(name), name)];
    return slot.used ? &slot : nullptr;
  }
  iterator existing(const std::string& name) const {
    const Slot* slot = slot_of(name);
    check(slot != nullptr, "the name is in the map");
    return slot->entry;
  }
  // Entries that a collision pushed beyond the hole move back, because a search ends at an empty
  // slot.
  void remove_slot(std::size_t hole) {
    for (std::size_t at = after(hole); slots_[at].used; at = after(at)) {
      const std::size_t from_home = (at - home_of(slots_[at].hash)) & (slots_.size() - 1);
      if (from_home < ((at - hole) & (slots_.size() - 1))) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
  }
  void index_all(std::size_t slots) {
    slots_.assign(slots, {});
    for (auto entry = map_.begin(); entry != map_.end(); ++entry) {
      const std::size_t hash = hash_text(entry->first);
      slots_[place_of(hash, entry->first)] = {hash, entry, true};
    }
  }

  Map map_;
  std::vector<Slot> slots_;
};

}  // namespace fairlead
