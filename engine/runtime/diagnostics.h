// The hub's diagnostics for its operator: one line per fact on stderr, as key=value.
//
// The level says what the operator should do: info nothing, warn look when there is time, error act
// now. A line names objects and numbers; it never holds a token or a whole object. diagnostics.cpp
// is the only file that includes spdlog.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

enum class Severity : std::uint8_t { info, warn, error };

/// One fact for an operator.
struct Diagnostic {
  Severity severity = Severity::info;
  std::string what;  ///< a few fixed words, to search for
  std::vector<std::pair<std::string_view, std::string>> details;  ///< in the order they are printed
};

/// Logs a diagnostic. Any thread may call it.
using Logger = std::function<void(const Diagnostic&)>;

/// Formats `what key="value" ...`: values are quoted where needed, escaped, and cut after 512
/// bytes.
std::string to_line(const Diagnostic& diagnostic);

/// Returns a logger that prints lines with UTC time and level on stderr.
Logger stderr_logger();

}  // namespace fairlead
