// How a diagnostic writes the failure of a request.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/kube/transport/failure_message.h"
#include "engine/base/time.h"

namespace fairlead {

/// Returns "CODE: text" in one line of at most 300 characters of text; "no answer" for the status
/// 0.
inline std::string failure_text(int status, std::string_view text) {
  const std::string out = status == 0 ? "no answer" : std::to_string(status);
  std::string said(text);
  std::replace(said.begin(), said.end(), '\n', ' ');
  if (said.size() > 300) said.resize(300);
  return said.empty() ? out : out + ": " + said;
}

/// Returns the server's message about a failure out of its body. For the status 0, an attempt
/// without an answer, `body` is our own text.
inline std::string status_text(int status, std::string_view body) {
  return failure_text(status, status == 0 ? std::string(body) : failure_message(body));
}

/// " (Retry-After 1h0m0s)"; empty if the server asks for no wait.
inline std::string retry_after_text(std::optional<Duration> asked) {
  return asked ? " (Retry-After " + to_go_duration(*asked) + ")" : "";
}

}  // namespace fairlead
