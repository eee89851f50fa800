// The message of a condition that Fairlead says.
#pragma once

#include <cstddef>
#include <string>

namespace fairlead {

/// No condition's message is longer, in bytes; the API's bound is 32768.
inline constexpr std::size_t kMessageMax = 8000;

/// What is too long ends with "...". No character is cut in two.
inline void bound_message(std::string& message) {
  if (message.size() <= kMessageMax) return;
  std::size_t end = kMessageMax - 3;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
  message.resize(end);
  message += "...";
}

}  // namespace fairlead
