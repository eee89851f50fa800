// One line of the connector for an operator.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace fairlead {

/// What a line reports: it decides how loud it is.
enum class LineAbout : std::uint8_t {
  trouble,
  recovery,  ///< a trouble that was reported before is over
};

/// No tokens, no objects.
struct DiagnosticLine {
  std::string text;
  LineAbout about = LineAbout::trouble;
};

using DiagnosticSink = std::function<void(const DiagnosticLine&)>;

}  // namespace fairlead
