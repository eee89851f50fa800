// The code of a program while it is written.
//
// It knows at each position how many values the stack holds, and evaluates what is constant: a list
// of literals, quantity("1Gi"), the path of an attribute.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/devices/cel/program.h"

namespace fairlead::cel {

/// A position of an instruction.
using Position = std::uint32_t;

class Code {
 public:
  explicit Code(Program& program) : program_(program) {}

  /// Returns the position of the next instruction.
  Position end() const { return static_cast<Position>(program_.code.size()); }
  /// Returns how many values the stack holds at the end.
  std::size_t depth() const { return depth_; }
  /// Sets how many it holds, where two branches meet.
  void set_depth(std::size_t depth) { depth_ = depth; }

  /// Appends an instruction that leaves `change` values more on the stack. Returns its position.
  Position emit(Op op, int change, std::size_t a = 0);
  void emit_call(Function function, std::size_t arguments);
  void emit_constant(const Value& value);
  void emit_field(std::string_view name);
  /// Appends an instruction that has a path.
  void emit_path(Op op, std::string_view domain, std::string_view id);

  Instruction& at(Position position) { return program_.code[position]; }
  /// Makes the instruction at `position` go to the end.
  void go_to_end(Position position) { at(position).a = end(); }

  /// Returns the constant that the code from `start` on pushes; nullptr if it does anything else.
  const Value* constant(Position start) const;
  /// Replaces the code from `start` on, which pushes a constant, by one that pushes `value`.
  void replace(Position start, const Value& value);
  /// Removes the code from `start` on, which pushes a constant.
  void remove(Position start);

  /// Makes a list of the `count` values that the code from `start` on pushes.
  void make_list(Position start, std::size_t count);
  /// Ends a call of matches(): the code from `pattern` on pushes the argument.
  void make_match(Position pattern);
  /// Compiles every string literal as a pattern if matches() was given anything but a literal,
  /// which is most likely an item of a list of literals. Call at the end.
  void compile_patterns();
  /// Whether the patterns that were asked for have more instructions than an expression may.
  bool patterns_too_large() const { return instructions_ > kPatternInstructionsMax; }
  /// Turns the access at the end of the code from `start` on into a test whether there is a value.
  void make_presence_test(Position start);

 private:
  std::size_t add_constant(const Value& value);
  void know_pattern(const Value& text);

  Program& program_;
  std::size_t depth_ = 0;
  bool matches_any_ = false;
  std::int64_t instructions_ = 0;
};

}  // namespace fairlead::cel
