// Open addressing: where the entry of a name is, by hash. NameTable and NameMap are built on it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead {

/// For tables in memory: it must not be stored.
inline std::size_t hash_of_name(const std::string& name) { return std::hash<std::string>{}(name); }

/// A hash index. A Handle is like a pointer to an entry: it converts to bool, the default one to
/// false, and `handle->first` is the name.
template <class Handle>
class NameSlots {
 public:
  /// Holds the hash, so that a search reads few entries other than the one it looks for.
  struct Slot {
    std::size_t hash = 0;
    Handle entry{};
  };
  static constexpr std::size_t kSlotsMin = 4;  // a power of two, as every number of slots

  NameSlots() = default;
  /// Makes room for `count` slots, a power of two or 0.
  explicit NameSlots(std::size_t count) : slots_(count) {}
  NameSlots(NameSlots&& other) noexcept
      : slots_(std::exchange(other.slots_, {})), size_(std::exchange(other.size_, 0)) {}
  NameSlots& operator=(NameSlots&& other) noexcept {
    slots_ = std::exchange(other.slots_, {});
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  NameSlots(const NameSlots&) = delete;
  NameSlots& operator=(const NameSlots&) = delete;
  ~NameSlots() = default;

  std::size_t size() const { return size_; }           ///< entries
  std::size_t count() const { return slots_.size(); }  ///< slots
  const Slot& slot(std::size_t at) const { return slots_[at]; }
  Slot& slot(std::size_t at) { return slots_[at]; }

  /// Returns null if there is none.
  const Handle* find(const std::string& name) const {
    if (size_ == 0) return nullptr;
    const Handle& entry = slots_[place_of(hash_of_name(name), name)].entry;
    return entry ? &entry : nullptr;
  }
  /// Adds an entry whose name is not among them.
  Handle& add(std::size_t hash, Handle entry) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    return adopt({hash, std::move(entry)});
  }
  /// Removes the entry if there is one. Entries that a collision pushed beyond its slot move back,
  /// because a search ends at an empty slot.
  void remove(const std::string& name) {
    if (size_ == 0) return;
    std::size_t hole = place_of(hash_of_name(name), name);
    if (!slots_[hole].entry) return;
    --size_;
    slots_[hole].entry = Handle{};
    for (std::size_t at = after(hole); slots_[at].entry; at = after(at)) {
      const std::size_t from_home = (at - home_of(slots_[at].hash)) & (slots_.size() - 1);
      if (from_home < ((at - hole) & (slots_.size() - 1))) continue;
      slots_[hole] = std::exchange(slots_[at], Slot{});
      hole = at;
    }
  }

  /// For a caller that prefetches: the slot where a search for this hash begins; null if there is
  /// none.
  const Slot* home(std::size_t hash) const {
    return slots_.empty() ? nullptr : &slots_[home_of(hash)];
  }
  /// Returns the first entry whose name has this hash, which need not be the one looked for.
  const Handle& probable(std::size_t hash) const {
    std::size_t at = home_of(hash);
    while (slots_[at].entry && slots_[at].hash != hash) at = after(at);
    return slots_[at].entry;
  }
  /// Moves a slot of another index in; its name must not be here and there must be room.
  Handle& adopt(Slot moved) {
    std::size_t at = home_of(moved.hash);
    while (slots_[at].entry) at = after(at);
    slots_[at] = std::move(moved);
    ++size_;
    return slots_[at].entry;
  }

 private:
  std::size_t home_of(std::size_t hash) const { return hash & (slots_.size() - 1); }
  std::size_t after(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  // Returns the slot that has `name`, or the empty one where it belongs.
  std::size_t place_of(std::size_t hash, const std::string& name) const {
    std::size_t at = home_of(hash);
    while (slots_[at].entry && (slots_[at].hash != hash || slots_[at].entry->first != name))
      at = after(at);
    return at;
  }
  void grow() {
    NameSlots larger(slots_.empty() ? kSlotsMin : slots_.size() * 2);
    for (Slot& slot : slots_)
      if (slot.entry) larger.adopt(std::move(slot));
    *this = std::move(larger);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace fairlead
