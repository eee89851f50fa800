// SHA-256, the only digest of Fairlead: it chains the log, identifies states and raw objects.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

/// 32 bytes of SHA-256; all zero means "none".
struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  friend bool operator==(const Digest&, const Digest&) = default;
  /// Returns 64 lower-case hexadecimal digits.
  std::string hex() const;
  /// Parses 64 hexadecimal digits; nullopt if `hex` is anything else.
  static std::optional<Digest> from_hex(std::string_view hex);
};

/// Returns SHA-256 over the concatenation of `parts`.
Digest sha256(std::span<const std::string_view> parts);
Digest sha256(std::string_view bytes);

/// SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view piece);
  /// Returns the digest of all pieces. Once, at the end.
  Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace fairlead
