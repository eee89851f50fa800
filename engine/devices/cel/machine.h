// Runs a program on a device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "engine/devices/cel.h"
#include "engine/devices/cel/device_maps.h"
#include "engine/devices/cel/functions.h"
#include "engine/devices/cel/program.h"

namespace fairlead::cel {

/// One evaluation of a program that has code. Large: a function for each group of instructions.
class Machine {
 public:
  Machine(const Program& program, const DeviceView& device);

  /// Returns the value of the expression; its texts live as long as this machine. Call once.
  Value run();
  /// Returns how many steps that took, and whether they ran out.
  std::int64_t steps() const { return program_.steps_max - evaluation_.steps_left; }
  bool exhausted() const { return evaluation_.steps_left < 0; }

 private:
  // One function for each group of instructions; program.h says what they do.
  void step(const Instruction& instruction);
  void push_part(const Instruction& instruction);
  void replace_field(const Instruction& instruction);
  void make_list(std::size_t count);
  void compare(Op op);
  void skip_or_join(const Instruction& instruction);
  void branch(const Instruction& instruction);
  void call_function(const Instruction& instruction);
  void match(const Pattern& pattern);
  void begin_loop(const Instruction& instruction);
  void next_element(const Instruction& instruction);
  void test_element(const Instruction& instruction);
  void end_loop();

  Value& top() { return stack_[size_ - 1]; }
  Value& below(std::size_t depth) { return stack_[size_ - 1 - depth]; }
  void push(const Value& value) { stack_[size_++] = value; }
  /// Removes `count` values under the top.
  void remove_below(std::size_t count);

  Value field_of(const Value& value, std::string_view name) const;
  Value has_field(const Value& value, std::string_view name) const;
  Value at_index(const Value& value, const Value& index) const;
  bool equals(const Value& a, const Value& b);
  Value contains(const Value& item, const Value& container);

  const Program& program_;
  std::array<std::byte, 2048> buffer_;  ///< enough for what selectors usually need
  std::pmr::monotonic_buffer_resource memory_;
  Evaluation evaluation_;
  Value* stack_;
  std::size_t size_ = 0;
  std::size_t at_ = 0;
};

}  // namespace fairlead::cel
