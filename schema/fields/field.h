// How the fields of a stored struct are listed: each once, for everything that follows from them.
//
// A struct has one function `fields(visit, value)`, which shows each field to a visitor with the
// name that it has in schema/event.capnp. Visitors store (schema/codec_write.cpp), read
// (codec_read.cpp) and print (event_json.cpp) the struct, so a listed field is in all three. A test
// with random values (codec_property_test.cpp) fails for a member that is not listed.
//
// A visitor has these functions. `value` is a constant where it is written or printed.
//   field(name, value, style)             a field. An empty text, list, map or digest, and an
//                                         optional without a value, are stored as absent.
//   unprinted(name, value)                a field that the JSON form leaves out.
//   flagged(flag, name, optional, style)  a list or map that may be absent, which differs from
//                                         empty: the Bool `flag` says whether it is there.
//   given(flag, optional, style, list)    a struct that may be absent, whose fields are stored
//                                         beside the Bool `flag`; list(inner) lists them.
//   derived(flag, holds)                  a Bool that follows from the field before it.
//   presence(flag)                        the first of an optional struct that has the Bool itself.
//   group(key, list, empty)               fields that only JSON has in an object of their own.
//   printed(key, value)                   a member of the JSON form alone: a text, or `true` if
//                                         the condition holds.
//   formerly(name, map)                   where records of schema version 1 have the map.
//   source(kind, cluster)                 a stream, or every capacity source of a cluster.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace fairlead {

/// The name of a field, with a hash that the compiler makes: a field is found by it.
struct FieldName {
  const char* text;
  std::uint32_t hash;

  static constexpr std::uint32_t hash_of(std::string_view text) {
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash;
  }
  // Implicit, so that a list names its fields by literals.
  consteval FieldName(const char* name) : text(name), hash(hash_of(name)) {}
};

/// What `fields` takes: a T, or a constant T.
template <class Value, class T>
concept Of = std::same_as<std::remove_const_t<Value>, T>;

/// What is special about a field: of its JSON form, but for the last.
struct FieldStyle {
  const char* key = nullptr;  ///< where it differs from the stored name
  bool sparse = false;        ///< left out while it has its default value
  bool hidden = false;        ///< left out
  bool spread = false;        ///< the members of the struct are printed in place of it
  bool brief = false;         ///< empty texts inside are left out
  bool or_null = false;       ///< null where it is absent
  bool first = false;         ///< of a list, the first item in place of it
  bool seconds = false;       ///< a number of seconds since 1970, printed as a time
  bool document = false;      ///< a text that is JSON, printed as the value that it is
  bool late = false;          ///< a struct that was added later: absent while it is the default

  constexpr FieldStyle but_sparse() const {
    FieldStyle style = *this;
    style.sparse = true;
    return style;
  }
  constexpr FieldStyle but_late() const {
    FieldStyle style = *this;
    style.late = true;
    return style;
  }
};

constexpr FieldStyle printed_as(const char* key) {
  FieldStyle style;
  style.key = key;
  return style;
}
constexpr FieldStyle printed_if(bool holds, const char* key = nullptr) {
  FieldStyle style = printed_as(key);
  style.hidden = !holds;
  return style;
}
constexpr FieldStyle with(bool FieldStyle::* special) {
  FieldStyle style;
  style.*special = true;
  return style;
}
inline constexpr FieldStyle kUsual{};
inline constexpr FieldStyle kSparse = kUsual.but_sparse();
inline constexpr FieldStyle kSpread = with(&FieldStyle::spread);
inline constexpr FieldStyle kOrNull = with(&FieldStyle::or_null);
inline constexpr FieldStyle kBrief = with(&FieldStyle::brief);
inline constexpr FieldStyle kSeconds = with(&FieldStyle::seconds);
inline constexpr FieldStyle kDocument = with(&FieldStyle::document);

/// What becomes of a group without members.
enum class EmptyGroup : std::uint8_t { left_out, printed };

/// How many values an enumeration has. They are stored by number.
template <class Enum>
inline constexpr unsigned kValuesOf = 0;

}  // namespace fairlead
