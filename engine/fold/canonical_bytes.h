// Canonical bytes of a value, made of its type: State in a snapshot, what State keeps packed
// (seen_workload.h), the index of the audit page.
//
// The bytes follow the structs: every field in order, maps and sets in their order, so equal values
// give equal bytes on every compiler. They carry no field names; the shape (a digest of the types)
// precedes them, and bytes of another shape are refused rather than misread. Boost.PFR enumerates
// the fields of aggregates, so they need not be listed a second time.
#pragma once

#include <array>
#include <boost/pfr.hpp>
#include <concepts>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/boxed.h"
#include "engine/base/digest.h"
#include "engine/base/quantity.h"
#include "engine/base/result.h"
#include "engine/base/shared_list.h"
#include "engine/base/shared_value.h"
#include "engine/base/time.h"
#include "engine/fold/capacity/damping.h"
#include "engine/fold/capacity/node_bases.h"
#include "engine/fold/deadlines.h"
#include "engine/fold/memo.h"
#include "engine/fold/name_map.h"
#include "engine/fold/name_table.h"
#include "schema/facts.h"
#include "schema/packed_map.h"

namespace fairlead {

namespace canonical {

template <class T, template <class...> class Template>
inline constexpr bool is_a = false;
template <template <class...> class Template, class... Args>
inline constexpr bool is_a<Template<Args...>, Template> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t n>
inline constexpr bool is_array<std::array<T, n>> = true;

template <class T>
concept Sequence = is_a<T, std::vector> || is_a<T, std::set>;
template <class T>
inline constexpr bool kContainer = is_a<T, PackedMap> || is_a<T, NameTable> || is_a<T, NameMap> ||
                                   is_a<T, std::map> || Sequence<T>;
template <class T>
inline constexpr bool kOptional = is_a<T, std::optional> || is_a<T, Boxed>;
/// A class that keeps all it holds in an aggregate: contents() returns it, adopt() takes it back.
template <class T>
concept HasContents = requires(const T& value) { value.contents(); };
/// A class whose content is its base, so that copies and comparisons of it are compiled once.
template <class T>
concept HasBase = requires { typename T::Base; };
template <class T>
concept Number = std::integral<T> || std::is_enum_v<T>;

__extension__ using Uint128 = unsigned __int128;

// ---- the shape: a text that changes with the types ----

struct Shape {
  std::string text;

  template <class T>
  void of() {
    if constexpr (is_a<T, Memo>) {
      // derived: it is not stored
    } else if constexpr (kOptional<T>) {
      text += '?', of<typename T::value_type>();
    } else if constexpr (is_a<T, Shared>) {
      of<typename T::value_type>();
    } else if constexpr (is_a<T, std::map>) {
      text += 'm', of<typename T::key_type>(), of<typename T::mapped_type>();
    } else if constexpr (is_a<T, NameTable> || is_a<T, NameMap>) {
      text += 'm', of<std::string>(), of<typename T::mapped_type>();
    } else if constexpr (Sequence<T>) {
      text += 'l', of<typename T::value_type>();
    } else if constexpr (is_a<T, std::pair>) {
      text += 'p', of<typename T::first_type>(), of<typename T::second_type>();
    } else if constexpr (is_a<T, std::tuple>) {
      text += 'e';
      of_elements(std::type_identity<T>{});
    } else if constexpr (is_array<T>) {
      text += 'a' + std::to_string(std::tuple_size_v<T>), of<typename T::value_type>();
    } else if constexpr (HasBase<T>) {
      of<typename T::Base>();
    } else if constexpr (is_a<T, std::variant>) {
      text += 'v';
      of_alternatives(std::type_identity<T>{});
    } else if constexpr (std::same_as<T, Int128> || Number<T>) {
      text += 'i' + std::to_string(sizeof(T));
    } else if constexpr (std::same_as<T, std::string>) {
      text += 's';
    } else if constexpr (is_a<T, PackedMap>) {
      text += 'k', of<typename T::Owned>();
    } else if constexpr (std::same_as<T, Digest>) {
      text += 'd';
    } else if constexpr (std::same_as<T, Quantity>) {
      text += 'q';
    } else if constexpr (HasContents<T>) {
      of<typename T::Contents>();
    } else if constexpr (std::same_as<T, SlidingExtreme>) {
      text += 'x', of<SlidingExtreme::Step>();
    } else if constexpr (std::same_as<T, Deadlines>) {
      text += 't', of<DeadlineKey>();
    } else if constexpr (requires { typename T::FieldsInPlace; }) {
      of_fields<T>(std::make_index_sequence<boost::pfr::tuple_size_v<T>>{});
    } else {
      text += '{';
      of_fields<T>(std::make_index_sequence<boost::pfr::tuple_size_v<T>>{});
      text += '}';
    }
  }
  template <class T, std::size_t... field>
  void of_fields(std::index_sequence<field...>) {
    (of<boost::pfr::tuple_element_t<field, T>>(), ...);
  }
  template <class... T>
  void of_elements(std::type_identity<std::tuple<T...>>) {
    text += std::to_string(sizeof...(T));
    (of<T>(), ...);
  }
  template <class... T>
  void of_alternatives(std::type_identity<std::variant<T...>>) {
    text += std::to_string(sizeof...(T));
    (of<T>(), ...);
  }
};

// ---- writing ----

class Writer {
 public:
  std::string bytes;

  /// Gives what is written to `take`, in pieces, and keeps no more than one of them.
  explicit Writer(std::function<void(std::string_view)> take) : take_(std::move(take)) {}
  Writer() = default;
  /// Gives out the last piece.
  void finish() {
    if (take_ && !bytes.empty()) take_(bytes);
  }

  template <class T>
  void put(const T& value) {
    if constexpr (is_a<T, Memo>) {
      // derived: it is not stored
    } else if constexpr (std::same_as<T, bool>) {
      bytes += value ? '\1' : '\0';
    } else if constexpr (std::is_enum_v<T>) {
      put_varint(static_cast<std::uint64_t>(value));
    } else if constexpr (std::unsigned_integral<T>) {
      put_varint(value);
    } else if constexpr (std::signed_integral<T>) {
      put_varint(zigzag(value));
    } else if constexpr (std::same_as<T, Int128>) {
      const auto bits = static_cast<Uint128>(value);
      put_word(static_cast<std::uint64_t>(bits >> 64));
      put_word(static_cast<std::uint64_t>(bits));
    } else if constexpr (std::same_as<T, LogTime>) {
      put_word(static_cast<std::uint64_t>(value.ns));
    } else if constexpr (is_a<T, PackedMap>) {
      put_varint(value.size());
      for (const auto& item : value) put(item);
    } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
      put_varint(value.size());
      bytes += value;
    } else if constexpr (std::same_as<T, Digest>) {
      bytes.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
    } else if constexpr (std::same_as<T, Quantity>) {
      put(value.nano());
      put(value.format());
    } else if constexpr (HasContents<T>) {
      put(value.contents());
    } else if constexpr (std::same_as<T, SlidingExtreme>) {
      put(value.steps());
    } else if constexpr (std::same_as<T, Deadlines>) {
      put(value.all());
    } else if constexpr (kOptional<T>) {
      put(value.has_value());
      if (value) put(*value);
    } else if constexpr (is_a<T, Shared>) {
      put(*value);
    } else if constexpr (HasBase<T>) {
      put<typename T::Base>(value);
    } else if constexpr (is_a<T, std::variant>) {
      put_varint(value.index());
      std::visit([this](const auto& held) { this->put(held); }, value);
    } else if constexpr (is_a<T, std::pair> || is_a<T, std::tuple>) {
      std::apply([this](const auto&... part) { (this->put(part), ...); }, value);
    } else if constexpr (is_array<T>) {
      for (const auto& item : value) put(item);
    } else if constexpr (is_a<T, NameTable>) {
      put_varint(value.size());
      for (const auto* entry : value.sorted()) put(*entry), pass_on();
    } else if constexpr (is_a<T, NameMap> || is_a<T, std::map> || Sequence<T>) {
      put_varint(value.size());
      for (const auto& item : value) put(item), pass_on();
    } else {
      // Of the type without const, so that its fields are counted once for both directions.
      boost::pfr::for_each_field(const_cast<T&>(value),
                                 [this](const auto& field) { this->put(field); });
    }
  }

 private:
  static constexpr std::size_t kPieceBytes = 64 * 1024;

  void pass_on() {
    if (!take_ || bytes.size() < kPieceBytes) return;
    take_(bytes);
    bytes.clear();
  }
  static std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  }
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }
  void put_word(std::uint64_t value) {
    std::array<char, 8> word;
    for (char& byte : word) byte = static_cast<char>(value), value >>= 8;
    bytes.append(word.data(), word.size());
  }

  const std::function<void(std::string_view)> take_;
};

// ---- reading ----

struct Malformed {
  const char* what;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }

  template <class T>
  void get(T& value) {
    if constexpr (is_a<T, Memo>) {
      // derived: left as in a new state
    } else if constexpr (std::same_as<T, bool>) {
      const std::uint64_t bit = get_varint();
      if (bit > 1) throw Malformed{"a truth value is neither"};
      value = bit == 1;
    } else if constexpr (is_a<T, Shared>) {
      typename T::value_type read{};
      get(read);
      value = std::move(read);
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(get_number<std::underlying_type_t<T>>());
    } else if constexpr (std::unsigned_integral<T>) {
      value = get_number<T>();
    } else if constexpr (std::signed_integral<T>) {
      const std::uint64_t bits = get_varint();
      const auto wide = static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
      value = static_cast<T>(wide);
      if (value != wide) throw Malformed{"a number is out of range"};
    } else if constexpr (std::same_as<T, Int128>) {
      const Uint128 high = get_word();
      value = static_cast<Int128>(high << 64 | get_word());
    } else if constexpr (std::same_as<T, LogTime>) {
      value.ns = static_cast<std::int64_t>(get_word());
    } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
      value = read(get_varint());
    } else if constexpr (std::same_as<T, Digest>) {
      const std::string_view bytes = read(value.bytes.size());
      std::memcpy(value.bytes.data(), bytes.data(), bytes.size());
    } else if constexpr (std::same_as<T, Quantity>) {
      Int128 nano = 0;
      QuantityFormat format{};
      get(nano);
      get(format);
      value = {nano, format};
    } else if constexpr (HasContents<T>) {
      typename T::Contents contents;
      get(contents);
      value.adopt(std::move(contents));
      if constexpr (is_a<T, SharedList>) share(value);
    } else if constexpr (std::same_as<T, SlidingExtreme>) {
      std::vector<SlidingExtreme::Step> steps;
      get(steps);
      value.adopt(std::move(steps));
    } else if constexpr (std::same_as<T, Deadlines>) {
      std::map<DeadlineKey, LogTime> all;
      get(all);
      for (const auto& [key, when] : all) value.set(key, when);
    } else if constexpr (kOptional<T>) {
      bool has = false;
      get(has);
      value.reset();
      if (has) get(value.emplace());
    } else if constexpr (HasBase<T>) {
      get<typename T::Base>(value);
    } else if constexpr (is_a<T, std::variant>) {
      get_alternative(value, get_varint());
    } else if constexpr (is_array<T>) {
      for (auto& item : value) get(item);
    } else if constexpr (kContainer<T>) {
      get_items(value);
    } else if constexpr (is_a<T, std::pair> || is_a<T, std::tuple>) {
      std::apply([this](auto&... part) { (this->get(part), ...); }, value);
    } else {
      boost::pfr::for_each_field(value, [this](auto& field) { this->get(field); });
      if constexpr (std::same_as<T, NodeFacts>) value = bases_.share(value);
    }
  }

 private:
  // Neighbours mostly have equal lists.
  template <class T>
  void share(SharedList<T>& list) {
    auto& last = std::get<SharedList<T>>(lists_);
    if (list == last)
      list = last;
    else
      last = list;
  }

  template <class T>
  void get_items(T& value) {
    if constexpr (is_a<T, PackedMap>) {
      // One buffer for all maps, because a fleet has two of them for each node.
      auto& items = std::get<std::vector<typename T::value_type>>(items_);
      items.resize(get_count());
      for (auto& [key, held] : items) get(key), get(held);
      if (!value.assign_sorted(items.size(), [&](std::size_t i) { return items[i]; }))
        throw Malformed{"a map is unsorted"};
    } else if constexpr (is_a<T, NameTable> || is_a<T, NameMap>) {
      value.clear();
      std::string last;
      for (std::uint64_t left = get_count(); left > 0; --left) {
        std::string name;
        get(name);
        if (!value.empty() && name <= last) throw Malformed{"a table is unsorted"};
        get(value[name]);
        last = std::move(name);
      }
    } else if constexpr (is_a<T, std::map>) {
      value.clear();  // some begin with defaults
      for (std::uint64_t left = get_count(); left > 0; --left) {
        typename T::key_type key{};
        get(key);
        if (!value.empty() && !(value.rbegin()->first < key)) throw Malformed{"a map is unsorted"};
        get(value.emplace_hint(value.end(), std::move(key), typename T::mapped_type{})->second);
      }
    } else if constexpr (is_a<T, std::set>) {
      value.clear();
      for (std::uint64_t left = get_count(); left > 0; --left) {
        typename T::value_type item{};
        get(item);
        if (!value.empty() && !(*value.rbegin() < item)) throw Malformed{"a set is unsorted"};
        value.emplace_hint(value.end(), std::move(item));
      }
    } else if constexpr (Sequence<T>) {
      value.clear();
      for (std::uint64_t left = get_count(); left > 0; --left) get(value.emplace_back());
    }
  }
  template <class... T>
  void get_alternative(std::variant<T...>& value, std::uint64_t index) {
    if (index >= sizeof...(T)) throw Malformed{"an alternative is unknown"};
    std::uint64_t at = 0;
    (void)((at++ == index ? (get(value.template emplace<T>()), true) : false) || ...);
  }
  template <class T>
  T get_number() {
    const std::uint64_t wide = get_varint();
    const T value = static_cast<T>(wide);
    if (value != wide) throw Malformed{"a number is out of range"};
    return value;
  }
  std::uint64_t get_varint() {
    if (!bytes_.empty() && static_cast<std::uint8_t>(bytes_[0]) < 0x80)
      return static_cast<std::uint8_t>(read(1)[0]);  // most are small
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(read(1)[0]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw Malformed{"a number is too long"};
  }
  // An item has at least one byte, so a damaged count cannot exceed the bytes that are left.
  std::uint64_t get_count() {
    const std::uint64_t count = get_varint();
    if (count > bytes_.size()) throw Malformed{"a list is longer than the bytes"};
    return count;
  }
  std::uint64_t get_word() {
    const std::string_view word = read(8);
    std::uint64_t value = 0;
    for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(word[i]);
    return value;
  }
  std::string_view read(std::uint64_t count) {
    if (count > bytes_.size()) throw Malformed{"the bytes end early"};
    const std::string_view front = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return front;
  }

  std::string_view bytes_;
  std::tuple<std::vector<PackedMap<std::string_view>::value_type>,
             std::vector<PackedMap<std::int64_t>::value_type>>
      items_;                                     ///< of the map that is being read
  std::tuple<SharedList<DeviceCapacity>> lists_;  ///< the last that was read of each
  NodeBases bases_;                               ///< of the nodes that were read
};

}  // namespace canonical

/// Returns the digest of the types of which T is composed.
template <class T>
const Digest& canonical_shape() {
  static const Digest digest = [] {
    canonical::Shape shape;
    shape.of<T>();
    return sha256(shape.text);
  }();
  return digest;
}

/// Returns the bytes of `value`: those of its shape, then its own.
template <class T>
std::string canonical_bytes(const T& value) {
  canonical::Writer writer;
  writer.put(canonical_shape<T>());
  writer.put(value);
  return std::move(writer.bytes);
}

/// Gives the same bytes to `take`, in pieces.
template <class T>
void write_canonical(const T& value, std::function<void(std::string_view)> take) {
  canonical::Writer writer(std::move(take));
  writer.put(canonical_shape<T>());
  writer.put(value);
  writer.finish();
}

/// Reads canonical_bytes(). Fails with `incompatible` if they are of another shape, with `corrupt`
/// if they are malformed; `name` ("state") says in the message what was expected.
template <class T>
Result<T> from_canonical_bytes(std::string_view bytes, const std::string& name) {
  const Digest& shape = canonical_shape<T>();
  const std::string_view ours(reinterpret_cast<const char*>(shape.bytes.data()),
                              shape.bytes.size());
  if (!bytes.starts_with(ours))
    return Error{ErrorCode::incompatible,
                 "the " + name + " was written by a program with another shape of it"};
  try {
    canonical::Reader reader(bytes.substr(ours.size()));
    T value;
    reader.get(value);
    if (!reader.at_end()) throw canonical::Malformed{"bytes are left over"};
    return value;
  } catch (const canonical::Malformed& malformed) {
    return Error{ErrorCode::corrupt, "no " + name + ": " + malformed.what};
  }
}

}  // namespace fairlead
