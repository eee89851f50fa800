// SHA-256, the one digest of Fairlead: it chains the log, names states and recognises raw objects.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

/// 32 bytes of SHA-256; all zero means "none".
struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  friend bool operator==(const Digest&, const Digest&) = default;
  /// 64 lower-case hexadecimal digits.
  std::string hex() const;
  /// The digest that `hex` names; nullopt unless it is 64 hexadecimal digits.
  static std::optional<Digest> from_hex(std::string_view hex);
};

/// SHA-256 over the concatenation of `parts`.
Digest sha256(std::span<const std::string_view> parts);
Digest sha256(std::string_view bytes);

}  // namespace fairlead
