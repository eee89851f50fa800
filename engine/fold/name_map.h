// Values by name, found by hash and walked in the order of the names.
//
// The fold looks up clusters, claims and queues some fourteen times for an event and walks
// them rarely. Among fifty names a std::map costs six comparisons, most of them a mispredicted
// branch; the index beside it costs one. A NameTable (name_table.h) would be smaller, but
// sorts for each walk.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/fold/name_slots.h"

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
      : map_(std::exchange(other.map_, {})), slots_(std::move(other.slots_)) {}
  NameMap& operator=(NameMap&& other) noexcept {
    map_ = std::exchange(other.map_, {});
    slots_ = std::move(other.slots_);
    return *this;
  }
  NameMap(const NameMap& other) : map_(other.map_), slots_(other.slots_.count()) {
    for (auto at = map_.begin(); at != map_.end(); ++at)
      slots_.add(hash_of_name(at->first), {at, true});
  }
  NameMap& operator=(const NameMap& other) { return *this = NameMap(other); }

  iterator begin() { return map_.begin(); }
  iterator end() { return map_.end(); }
  const_iterator begin() const { return map_.begin(); }
  const_iterator end() const { return map_.end(); }
  std::size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }

  /// Returns end() if there is none.
  iterator find(const std::string& name) {
    const Handle* found = slots_.find(name);
    return found ? found->at : map_.end();
  }
  const_iterator find(const std::string& name) const {
    const Handle* found = slots_.find(name);
    return found ? const_iterator(found->at) : map_.end();
  }
  bool contains(const std::string& name) const { return slots_.find(name) != nullptr; }
  /// The entry must exist.
  Value& at(const std::string& name) { return existing(name)->second; }
  const Value& at(const std::string& name) const { return existing(name)->second; }
  /// Creates the entry if there is none.
  Value& operator[](const std::string& name) {
    if (const Handle* found = slots_.find(name)) return found->at->second;
    const iterator at = map_.try_emplace(name).first;
    slots_.add(hash_of_name(name), {at, true});
    return at->second;
  }

  void erase(const_iterator at) {
    slots_.remove(at->first);
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
  struct Handle {
    iterator at{};
    bool used = false;

    explicit operator bool() const { return used; }
    iterator operator->() const { return at; }
  };

  iterator existing(const std::string& name) const {
    const Handle* found = slots_.find(name);
    check(found != nullptr, "the name is in the map");
    return found->at;
  }

  Map map_;
  NameSlots<Handle> slots_;
};

}  // namespace fairlead
