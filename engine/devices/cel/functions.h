// The functions that an expression may call. Macros (has, exists, all, cel.bind) are the
// compiler's.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>

#include "engine/devices/cel/device_maps.h"
#include "engine/devices/cel/patterns.h"
#include "engine/devices/cel/value.h"

namespace fairlead::cel {

enum class Function : std::uint8_t {
  size,
  to_int,
  to_string,
  quantity,
  is_quantity,
  semver,
  is_semver,
  starts_with,
  ends_with,
  contains,
  matches,
  lower_ascii,
  upper_ascii,
  substring,
  compare_to,
  is_greater_than,
  is_less_than,
  as_integer,
  is_integer,
};

/// How a function is called: `f(x)` or `x.f()`.
enum class CallForm : std::uint8_t { global, method };

/// Whether there is a function of that name, whatever it takes.
bool knows_function(std::string_view name, CallForm form);
/// Returns the function of that name that takes so many arguments; the receiver of a method is the
/// first one. nullopt if there is none.
std::optional<Function> find_function(std::string_view name, CallForm form, std::size_t arguments);
/// Returns the name of a function as an expression has it.
std::string_view text_of(Function function);

/// What one evaluation works on, the steps that it has left, and where it allocates.
struct Evaluation {
  DeviceView device;
  std::pmr::memory_resource& memory;
  const KnownPatterns& patterns;
  std::int64_t steps_left;

  /// Takes steps for work on `bytes` of text, besides the step of the operation itself.
  void pay_for(std::size_t bytes) { steps_left -= static_cast<std::int64_t>(bytes / 64); }
};

/// Calls `function` with as many arguments as find_function() was asked for. A fault among them is
/// the result, the first one if there are several.
Value call(Function function, std::span<const Value> arguments, Evaluation& evaluation);

}  // namespace fairlead::cel
