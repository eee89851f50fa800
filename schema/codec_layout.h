// Private to the codec: where Cap'n Proto keeps the fields of a struct.
//
// Its dynamic API looks a field up by name and reads the schema at each access, which made an
// observed Pod seven times as expensive as its generated accessors (5.6 us for 0.7). So the schema
// is read once: a field is found by the hash of its name, and reached through AnyStruct.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "schema/fields/field.h"

namespace fairlead::stored {

struct StructLayout;

/// What a field is, as far as its place goes.
enum class FieldSort : std::uint8_t {
  bit,
  bits16,
  bits32,
  bits64,
  text,
  data,
  structure,
  group,    ///< its fields lie in the struct itself
  texts,    ///< lists
  words16,  ///< of enumerants
  words64,
  structures,
};

struct FieldLayout {
  std::string_view name;
  std::uint32_t hash = 0;  ///< of the name; each in a struct has another
  FieldSort sort{};
  std::uint32_t offset = 0;             ///< in the data, in its own size; else the pointer's index
  const StructLayout* inner = nullptr;  ///< of a struct, a group, or the items of a list
  bool in_union = false;
  std::uint16_t discriminant = 0;  ///< where it is in a union
};

struct StructLayout {
  std::uint16_t data_words = 0;
  std::uint16_t pointers = 0;
  std::uint32_t discriminant_offset = 0;    ///< in 16-bit units
  std::vector<FieldLayout> fields;          ///< in the order of their numbers
  std::vector<const FieldLayout*> members;  ///< of the union, by discriminant
  std::vector<const FieldLayout*> by_hash;  ///< open addressing; the size is a power of two

  /// Returns the field with that name, which the schema has.
  const FieldLayout& at(FieldName name) const {
    std::size_t slot = name.hash & (by_hash.size() - 1);
    while (by_hash[slot] && by_hash[slot]->hash != name.hash)
      slot = (slot + 1) & (by_hash.size() - 1);
    check(by_hash[slot] != nullptr, "schema/event.capnp has each listed field");
    return *by_hash[slot];
  }
};

/// The layout of an event, and through it of everything in it.
const StructLayout& event_layout();

}  // namespace fairlead::stored
