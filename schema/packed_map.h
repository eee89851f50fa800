// A small immutable map with text keys in one block of memory, which its copies share.
//
// State holds the labels of a million nodes, and every event about a node carries them: a std::map
// costs a dozen allocations each time, this map one, and a copy of it none. The nodes of a pool
// have most labels in common: a map may rest on one with the same keys and have in its block only
// the values that differ
// (docs/decisions/0021-memory-of-a-node.md).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/shared_bytes.h"

namespace fairlead {

/// Sorted bytewise by key, no key twice. `Value` is std::string_view or std::int64_t. Views that it
/// returns are valid as long as the map or any copy of it exists.
template <class Value>
class PackedMap {
  struct Head {
    std::uint32_t count;  // of items, or of patches
    std::uint32_t size;   // of the block, in bytes
  };
  static constexpr bool kTexts = std::is_same_v<Value, std::string_view>;

  // A value that replaces an item's value in the map on which this rests: how many bytes the item
  // is behind the item of the patch before (or behind the block's beginning), and the value as in
  // an item.
  struct Patch {
    std::uint32_t distance = 0;
    Value value{};

    static std::size_t stored_size(const Value& value) {
      if constexpr (kTexts) return 2 * sizeof(std::uint32_t) + value.size();
      return sizeof(std::uint32_t) + sizeof(Value);
    }
    char* store(char* out) const {
      std::memcpy(out, &distance, sizeof distance);
      out += sizeof distance;
      if constexpr (kTexts) {
        const auto size = static_cast<std::uint32_t>(value.size());
        std::memcpy(out, &size, sizeof size);
        return std::copy(value.begin(), value.end(), out + sizeof size);
      } else {
        std::memcpy(out, &value, sizeof value);
        return out + sizeof value;
      }
    }
    // Returns the patch at `at`, and the address of the next one.
    static std::pair<Patch, const char*> load(const char* at) {
      Patch patch;
      std::memcpy(&patch.distance, at, sizeof distance);
      at += sizeof distance;
      if constexpr (kTexts) {
        std::uint32_t size = 0;
        std::memcpy(&size, at, sizeof size);
        patch.value = {at + sizeof size, size};
        return {patch, at + sizeof size + size};
      } else {
        std::memcpy(&patch.value, at, sizeof value);
        return {patch, at + sizeof value};
      }
    }
  };

 public:
  using Owned = std::conditional_t<std::is_same_v<Value, std::string_view>, std::string, Value>;
  using key_type = std::string_view;
  using mapped_type = Value;
  using value_type = std::pair<std::string_view, Value>;

  PackedMap() = default;
  ~PackedMap() = default;
  PackedMap(PackedMap&&) noexcept = default;
  PackedMap& operator=(PackedMap&&) noexcept = default;
  PackedMap(const PackedMap& other) : block_(other.lasting_block()) {}
  PackedMap& operator=(const PackedMap& other) {
    block_ = other.lasting_block();
    return *this;
  }
  PackedMap(const std::map<std::string, Owned>& map) { assign(map); }  // NOLINT: they mean the same
  PackedMap(std::initializer_list<std::pair<const std::string, Owned>> items)
      : PackedMap(std::map<std::string, Owned>(items)) {}

  /// Assigns `count` items, which `item(i)` returns as value_type. Returns false and leaves the map
  /// empty if their keys do not ascend.
  template <class Item>
  bool assign_sorted(std::size_t count, const Item& item) {
    *this = {};
    if (count == 0) return true;
    std::size_t size = sizeof(Head);
    for (std::size_t i = 0; i < count; ++i) size += stored_size(item(i));
    char* out = nullptr;
    SharedBytes block = SharedBytes::make(size, out);
    const Head head{static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(size)};
    std::memcpy(out, &head, sizeof head);
    out += sizeof head;
    std::string_view last;
    for (std::size_t i = 0; i < count; ++i) {
      const value_type pair = item(i);
      if (i > 0 && pair.first <= last) return false;
      out = store(out, pair, last);
    }
    block_ = std::move(block);
    return true;
  }

  /// Returns the block of a map that rests on no other: the count of items and the size of the
  /// block in bytes (4 bytes each), then the items. An item is the size of its key (4 bytes), its
  /// value (8 bytes) or the size of its text (4 bytes), the key, the text. Numbers are
  /// little-endian. Empty for an empty map. Equal maps have equal bytes.
  std::string_view bytes() const {
    check(!is_based(), "a map of which all items are in its block");
    return own_bytes();
  }
  /// Returns the map whose bytes() are `bytes`; nullopt if they are malformed.
  static std::optional<PackedMap> from_bytes(std::string_view bytes) {
    auto map = view_of(bytes);
    if (map) map->block_ = map->lasting_block();
    return map;
  }
  /// Returns the same map as a view, which must not outlive `bytes`. A map that is moved from it
  /// views them too; a copy gets its own block. For reading a log: most events repeat labels that
  /// State holds already, so most are never copied.
  static std::optional<PackedMap> view_of(std::string_view bytes) {
    PackedMap map;
    if (bytes.empty()) return map;
    Head head{};
    if (bytes.size() < sizeof head || bytes.size() > UINT32_MAX) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.count == 0 || head.size != bytes.size()) return std::nullopt;
    std::string_view left = bytes.substr(sizeof head), last;
    for (std::uint32_t i = 0; i < head.count; ++i) {
      if (!fits(left)) return std::nullopt;
      const auto [item, end] = load(left.data());
      if (i > 0 && item.first <= last) return std::nullopt;
      last = item.first;
      left.remove_prefix(static_cast<std::size_t>(end - left.data()));
    }
    if (!left.empty()) return std::nullopt;
    map.block_ = SharedBytes::view_of(bytes.data());
    return map;
  }

  /// Whether it has in its block only the values that differ from another map's.
  bool is_based() const { return block_.base() != nullptr; }
  /// Returns an equal map that rests on no other.
  PackedMap whole() const {
    if (!is_based()) return *this;
    const std::vector<value_type> items(begin(), end());
    PackedMap map;
    map.assign_sorted(items.size(), [&](std::size_t i) { return items[i]; });
    return map;
  }
  /// The values of a map that another has not.
  struct Difference {
    std::size_t items = 0;
    std::size_t bytes = 0;  ///< of a block with these values
  };
  /// Returns how the map differs from `base`; nullopt if it cannot rest on it, because their keys
  /// differ, or because `base` is empty, views bytes or rests on another map itself.
  std::optional<Difference> difference(const PackedMap& base) const {
    if (base.block_.is_view() || base.is_based() || base.size() != size()) return std::nullopt;
    Difference own{0, sizeof(Head)};
    auto of_base = base.begin();
    for (const value_type item : *this) {
      const value_type known = *of_base;
      if (known.first != item.first) return std::nullopt;
      if (known.second != item.second) ++own.items, own.bytes += Patch::stored_size(item.second);
      ++of_base;
    }
    return own;
  }
  /// Returns an equal map that rests on `base`: one for which difference() returned `own`.
  PackedMap based_on(const PackedMap& base, const Difference& own) const {
    char* out = nullptr;
    PackedMap map;
    map.block_ = SharedBytes::make_on(base.block_, own.bytes, out);
    const Head head{static_cast<std::uint32_t>(own.items), static_cast<std::uint32_t>(own.bytes)};
    std::memcpy(out, &head, sizeof head);
    out += sizeof head;
    auto of_base = base.begin();
    const char* last = base.block_.get();
    for (const value_type item : *this) {
      if ((*of_base).second != item.second) {
        const auto distance = static_cast<std::uint32_t>(of_base.at_ - last);
        out = Patch{distance, item.second}.store(out);
        last = of_base.at_;
      }
      ++of_base;
    }
    return map;
  }

  /// Returns the address of the block without reading it.
  const char* address() const { return block_.get(); }

  class Iterator {
   public:
    using value_type = PackedMap::value_type;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = const value_type*;
    using reference = value_type;

    value_type operator*() const {
      value_type item = load(at_).first;
      if (at_ == patched_) item.second = Patch::load(patch_).first.value;
      return item;
    }
    Iterator& operator++() {
      if (at_ == patched_) {
        patch_ = Patch::load(patch_).second;
        find_patched();
      }
      at_ = load(at_).second;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    friend class PackedMap;
    explicit Iterator(const char* at) : at_(at) {}
    Iterator(const char* block, std::string_view patches)
        : at_(block + sizeof(Head)),
          patched_(block),
          patch_(patches.data()),
          patches_end_(patches.data() + patches.size()) {
      find_patched();
    }
    void find_patched() {
      patched_ = patch_ == patches_end_ ? nullptr : patched_ + Patch::load(patch_).first.distance;
    }

    const char* at_;
    const char* patched_ = nullptr;  // the next item with another value; null: none
    const char* patch_ = nullptr;    // that value
    const char* patches_end_ = nullptr;
  };
  using const_iterator = Iterator;
  Iterator begin() const {
    if (!block_) return Iterator(nullptr);
    if (is_based()) return Iterator(block_.base(), own_bytes().substr(sizeof(Head)));
    return Iterator(block_.get() + sizeof(Head));
  }
  Iterator end() const { return Iterator(block_ ? items() + items_head().size : nullptr); }
  std::size_t size() const { return block_ ? items_head().count : 0; }
  bool empty() const { return !block_; }

  std::optional<Value> find(std::string_view key) const {
    for (const auto& [at, value] : *this) {
      if (at == key) return value;
      if (at > key) break;
    }
    return std::nullopt;
  }
  bool contains(std::string_view key) const { return find(key).has_value(); }

  std::map<std::string, Owned> to_map() const {
    std::map<std::string, Owned> map;
    for (const auto& [key, value] : *this)
      map.emplace_hint(map.end(), std::string(key), Owned(value));
    return map;
  }

  friend bool operator==(const PackedMap& a, const PackedMap& b) {
    if (a.address() == b.address()) return true;
    if (a.size() != b.size()) return false;
    if (a.is_based() != b.is_based()) return a.is_based() ? a.equals_whole(b) : b.equals_whole(a);
    if (a.block_.base() != b.block_.base()) return std::equal(a.begin(), a.end(), b.begin());
    return a.own_bytes() == b.own_bytes();
  }

 private:
  void assign(const std::map<std::string, Owned>& map) {
    auto at = map.begin();
    std::size_t index = 0;
    assign_sorted(map.size(), [&](std::size_t i) -> value_type {
      if (i < index) at = map.begin(), index = 0;
      for (; index < i; ++index) ++at;
      return {at->first, at->second};
    });
  }
  static Head head_of(const char* block) {
    Head head;
    std::memcpy(&head, block, sizeof head);
    return head;
  }
  Head head() const { return head_of(block_.get()); }
  // The block with all items: its own, or the block of the map on which it rests.
  const char* items() const {
    const char* const base = block_.base();
    return base ? base : block_.get();
  }
  Head items_head() const { return head_of(items()); }
  std::string_view own_bytes() const {
    return block_ ? std::string_view(block_.get(), head().size) : std::string_view();
  }
  // Whether this map, which rests on another, equals one that rests on none, and is as large. The
  // fold compares the labels of each event with the ones in State: between patches all bytes are
  // equal.
  bool equals_whole(const PackedMap& whole) const {
    const char* base = block_.base();
    const char* const base_end = base + items_head().size;
    const char* other = whole.block_.get();
    const char* const other_end = other + whole.head().size;
    const auto same = [&](const char* to) {
      const auto size = static_cast<std::size_t>(to - base);
      if (static_cast<std::size_t>(other_end - other) < size || std::memcmp(base, other, size) != 0)
        return false;
      base += size;
      other += size;
      return true;
    };
    base += sizeof(Head), other += sizeof(Head);  // the counts are equal, the sizes need not be
    const std::string_view patches = own_bytes().substr(sizeof(Head));
    const char* patched = block_.base();
    for (const char* at = patches.data(); at != patches.data() + patches.size();) {
      const auto [patch, after] = Patch::load(at);
      at = after;
      patched += patch.distance;
      if (!same(patched) || other == other_end) return false;
      const auto [of_base, base_next] = load(base);
      const auto [of_other, other_next] = load(other);
      if (of_base.first != of_other.first || of_other.second != patch.value) return false;
      base = base_next;
      other = other_next;
    }
    return same(base_end) && other == other_end;
  }
  // Returns the shared block, or a copy of one that is only viewed.
  SharedBytes lasting_block() const {
    return block_ && block_.is_view() ? SharedBytes::copy_of(own_bytes()) : block_;
  }
  static_assert(std::endian::native == std::endian::little, "the block is stored as it is");
  static constexpr std::size_t kNumbers =
      sizeof(std::uint32_t) + (kTexts ? sizeof(std::uint32_t) : sizeof(std::int64_t));

  // Whether `bytes` begin with a whole item.
  static bool fits(std::string_view bytes) {
    if (bytes.size() < kNumbers) return false;
    std::uint32_t key_size = 0, text_size = 0;
    std::memcpy(&key_size, bytes.data(), sizeof key_size);
    if constexpr (kTexts) std::memcpy(&text_size, bytes.data() + sizeof key_size, sizeof text_size);
    return bytes.size() - kNumbers >= std::size_t{key_size} + text_size;
  }
  static std::size_t stored_size(const value_type& pair) {
    if constexpr (kTexts)
      return 2 * sizeof(std::uint32_t) + pair.first.size() + pair.second.size();
    else
      return sizeof(std::uint32_t) + sizeof(Value) + pair.first.size();
  }
  static char* store(char* out, const value_type& pair, std::string_view& key) {
    const auto put = [&](const void* bytes, std::size_t size) {
      if (size > 0) std::memcpy(out, bytes, size);
      out += size;
    };
    const auto key_size = static_cast<std::uint32_t>(pair.first.size());
    put(&key_size, sizeof key_size);
    if constexpr (kTexts) {
      const auto value_size = static_cast<std::uint32_t>(pair.second.size());
      put(&value_size, sizeof value_size);
    } else {
      put(&pair.second, sizeof pair.second);
    }
    put(pair.first.data(), pair.first.size());
    key = {out - pair.first.size(), pair.first.size()};
    if constexpr (kTexts) put(pair.second.data(), pair.second.size());
    return out;
  }
  // Returns the item at `at` and the address of the next one.
  static std::pair<value_type, const char*> load(const char* at) {
    const auto get = [&](auto& value) {
      std::memcpy(&value, at, sizeof value);
      at += sizeof value;
    };
    std::uint32_t key_size;
    get(key_size);
    if constexpr (kTexts) {
      std::uint32_t value_size;
      get(value_size);
      return {{{at, key_size}, {at + key_size, value_size}}, at + key_size + value_size};
    } else {
      Value value;
      get(value);
      return {{{at, key_size}, value}, at + key_size};
    }
  }

  SharedBytes block_;
};

/// Labels of an object.
using Labels = PackedMap<std::string_view>;

}  // namespace fairlead
