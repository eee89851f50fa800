// A compiled expression: instructions for a stack of values, in the order in which they run.
//
// The tree of an expression is never built. An expression of 10 KiB may be thousands of operators
// deep, and a million devices are asked: a flat program needs no recursion, and the usual selector
// (an attribute, a literal, a comparison) is three instructions that allocate nothing
// (docs/decisions/0038-selectors-are-flat-programs.md).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "engine/devices/cel/functions.h"
#include "engine/devices/cel/patterns.h"
#include "engine/devices/cel/value.h"

namespace fairlead::cel {

/// What an instruction does. `top` is the top of the stack; positions are indices of `code`.
enum class Op : std::uint8_t {
  constant,       ///< pushes constants[a]
  variable,       ///< pushes the value at position a of the stack
  driver,         ///< pushes device.driver
  shared,         ///< pushes device.allowMultipleAllocations
  attribute,      ///< pushes the attribute paths[a]
  has_attribute,  ///< pushes whether there is one
  capacity,       ///< pushes the capacity paths[a]
  has_capacity,   ///< pushes whether there is one
  field,          ///< replaces the top by its field constants[a]
  has_field,      ///< replaces the top by whether it has that field
  index,          ///< replaces a list or map and a key by what is there
  list,           ///< replaces the a topmost values by a list of them
  negation,       ///< replaces the top by its opposite
  equal,          ///< these replace two values by the result of the comparison
  not_equal,      ///<
  less,           ///<
  less_equal,     ///<
  greater,        ///<
  greater_equal,  ///<
  in,             ///<
  and_skip,       ///< goes to a if the top is false
  conjunction,    ///< replaces two values by their `&&`
  or_skip,        ///< goes to a if the top is true
  disjunction,    ///< replaces two values by their `||`
  branch,    ///< removes a bool, goes to a if it is false; to b, with a fault, if it is not a bool
  jump,      ///< goes to a
  call,      ///< replaces `count` arguments by the result of `function`
  match,     ///< replaces a string by whether patterns[a] matches it
  loop,      ///< the top is a list: pushes the first result and index 0; goes to a if it is not
  element,   ///< pushes the element at the index; goes to a if there is none
  any,       ///< of exists(): removes condition and element, updates the result; goes on at a
  every,     ///< as `any`, of all()
  loop_end,  ///< removes index and list, leaves the result
  unbind,    ///< removes the value below the top
};

struct Instruction {
  Op op = Op::constant;
  Function function = Function::size;
  std::uint8_t count = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// An attribute or a capacity whose domain and id are literals.
struct Path {
  std::string_view domain;
  std::string_view id;
  std::string_view full;  ///< domain/id
};

struct Program {
  std::string source;       ///< texts of constants view it
  std::string unsupported;  ///< what is not understood; there is no code then
  int steps_max = 0;        ///< a run is given up after so many steps
  std::string steps_text;   ///< steps_max as text, for messages
  std::vector<Instruction> code;
  std::vector<Value> constants;
  std::vector<Path> paths;
  std::deque<Pattern> patterns;
  KnownPatterns known_patterns;  ///< the literals, where matches() is given anything else
  std::size_t depth = 0;         ///< how many values the stack holds at most
  /// What constants and paths view besides `source`; in a deque, so that addresses stay.
  std::deque<std::string> texts;
  std::deque<std::vector<Value>> lists;
};

}  // namespace fairlead::cel
