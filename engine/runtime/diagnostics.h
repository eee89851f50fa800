// What the hub says to its operator: one line a fact on stderr, as key=value.
//
// The level says what to do: info nothing, warn look when you can, error act now. A line names
// objects and numbers; it never holds a token or a whole object. The only place that knows spdlog.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

enum class Urgency : std::uint8_t { info, warn, error };

/// One fact for an operator.
struct Diagnostic {
  Urgency urgency = Urgency::info;
  std::string what;  ///< a few fixed words, to search for
  std::vector<std::pair<std::string_view, std::string>> details;  ///< in the order they are printed
};

/// Takes diagnostics; from any thread.
using Say = std::function<void(const Diagnostic&)>;

/// `what key="value" ...`: values are quoted where needed, escaped and bounded.
std::string to_line(const Diagnostic& diagnostic);

/// Prints lines with time and level on stderr.
Say say_on_stderr();

}  // namespace fairlead
