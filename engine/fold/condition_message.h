// The message of a condition that Fairlead writes.
#pragma once

#include <cstddef>
#include <string>

namespace fairlead {

/// The bound on a condition's message, in bytes. metav1.Condition allows 32768.
inline constexpr std::size_t kMessageMax = 8000;

/// Cuts a longer message to kMessageMax; it then ends with "...". Never cuts a UTF-8 character.
inline void bound_message(std::string& message) {
  if (message.size() <= kMessageMax) return;
  std::size_t end = kMessageMax - 3;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
  message.resize(end);
  message += "...";
}

}  // namespace fairlead
