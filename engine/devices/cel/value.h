// The values that an expression computes with, errors among them.
//
// CEL's errors are values: `err || true` is true, so an error flows through the operators until one
// of them absorbs it. A value is trivially copied and owns nothing: its texts and items belong to
// the program, to the device or to the evaluation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/quantity.h"

namespace fairlead::cel {

enum class Kind : std::uint8_t {
  fault,             ///< an error
  boolean,           ///<
  integer,           ///< 64 bits
  text,              ///< string
  quantity,          ///<
  version,           ///<
  list,              ///<
  device,            ///< the variable `device`
  attributes,        ///< device.attributes: a map of domains...
  capacities,        ///< device.capacity
  attribute_domain,  ///< ...and one domain of it: a map of ids
  capacity_domain,   ///<
};

/// What went wrong.
enum class Fault : std::uint8_t {
  not_published,      ///< the device has no such attribute or capacity
  no_such_field,      ///<
  no_such_operation,  ///< operator or function has no meaning for what it was given
  out_of_range,       ///< of a list or a string
  malformed,          ///< a text that is not an int, a quantity or a version
  invalid_pattern,    ///< of matches()
  too_many_steps,     ///< ends the evaluation, whatever is around it
};

struct Value {
  /// boolean: 0 or 1; integer; quantity: nano units; list: how many items.
  Int128 number = 0;
  /// text and version: it; quantity: as it was spelled, empty for a capacity; domain: its name;
  /// fault: what it is about.
  std::string_view text;
  const Value* items = nullptr;  ///< list
  Kind kind = Kind::fault;
  Fault fault = Fault::no_such_operation;
  QuantityFormat format = QuantityFormat::decimal_si;  ///< quantity
};

inline Value fault(Fault what, std::string_view about) {
  Value value;
  value.fault = what;
  value.text = about;
  return value;
}
inline Value boolean(bool holds) {
  Value value;
  value.kind = Kind::boolean;
  value.number = holds ? 1 : 0;
  return value;
}
inline Value integer(std::int64_t number) {
  Value value;
  value.kind = Kind::integer;
  value.number = number;
  return value;
}
/// A value that its text describes completely (a text, a version, a domain), or that needs none (a
/// map).
inline Value named(Kind kind, std::string_view text = {}) {
  Value value;
  value.kind = kind;
  value.text = text;
  return value;
}
inline Value quantity(const Quantity& amount, std::string_view spelled) {
  Value value;
  value.kind = Kind::quantity;
  value.number = amount.nano();
  value.format = amount.format();
  value.text = spelled;
  return value;
}
inline Value list(const Value* items, std::size_t count) {
  Value value;
  value.kind = Kind::list;
  value.items = items;
  value.number = static_cast<Int128>(count);
  return value;
}

/// Whether `value` is that boolean; false for every other kind.
inline bool is_true(const Value& value) { return value.kind == Kind::boolean && value.number != 0; }
inline bool is_false(const Value& value) {
  return value.kind == Kind::boolean && value.number == 0;
}

/// Whether `value` is `device.attributes`, `device.capacity` or a domain of one of them.
inline bool is_map(const Value& value) {
  return value.kind == Kind::attributes || value.kind == Kind::capacities ||
         value.kind == Kind::attribute_domain || value.kind == Kind::capacity_domain;
}

/// Reads a text as int() does: decimal, with or without a sign, 64 bits. A fault if it is none.
Value parse_integer(std::string_view text);
/// Reads a text as quantity() does; the value views `text`. A fault if it is none.
///
/// Values are exact to nano and to 10^29 units, beyond which they are equal to each other, where
/// apimachinery goes on counting decimal ones. It also takes a sign, a point or a suffix without a
/// digit for zero, which here is malformed.
Value parse_quantity(std::string_view text);
/// Reads a text as semver() does; the value views `text`. A fault if it is none.
Value parse_version(std::string_view text);

/// Returns whether a quantity can be read by asInteger().
///
/// Source: k8s.io/apimachinery resource.Quantity AsInt64, which answers from how the amount is
/// spelled: `1000m`, `1.0` and `100Ti` do not read as integers. A capacity is spelled in canonical
/// form, as API servers store it.
bool reads_as_integer(const Value& amount);

/// Returns an error in words, for a person.
std::string describe(const Value& error);

}  // namespace fairlead::cel
