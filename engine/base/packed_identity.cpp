#include "engine/base/packed_identity.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "engine/base/resource_version.h"

namespace fairlead {
namespace {

static_assert(sizeof(std::uintptr_t) == sizeof(std::uint64_t), "an address takes 64 bits");

constexpr std::size_t kUuidLength = 36;
constexpr std::string_view kLowerHexDigits = "0123456789abcdef";

bool is_uuid_dash(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

// By character: its value as a digit in lower case; 16 for others.
constexpr std::array<std::uint8_t, 256> kUuidDigits = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(16);
  for (std::size_t i = 0; i < kLowerHexDigits.size(); ++i)
    values[static_cast<std::uint8_t>(kLowerHexDigits[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

struct UuidHalves {
  std::uint64_t high = 0, low = 0;
};

// Of digits in lower case alone: others would come back in another case.
std::optional<UuidHalves> uuid_of(std::string_view text) {
  if (text.size() != kUuidLength) return std::nullopt;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return std::nullopt;
  std::uint8_t all = 0;
  const auto digits = [&](std::uint64_t& half, std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; ++at) {
      const std::uint8_t digit = kUuidDigits[static_cast<std::uint8_t>(text[at])];
      all |= digit;
      half = half << 4 | digit;
    }
  };
  UuidHalves halves;
  digits(halves.high, 0, 8);
  digits(halves.high, 9, 13);
  digits(halves.high, 14, 18);
  digits(halves.low, 19, 23);
  digits(halves.low, 24, kUuidLength);
  if (all > 15 || halves.low >> 62 != 2) return std::nullopt;
  return halves;
}

std::uint64_t on_the_heap(std::string_view text) {
  return reinterpret_cast<std::uintptr_t>(new std::string(text));
}

constexpr std::size_t kPackedDigitsMax = 18;  // every such number and one bit more fit 64 bits

// Without leading zeros: they would not come back.
std::optional<std::uint64_t> packed_number_of(std::string_view text) {
  if (text.empty() || text.size() > kPackedDigitsMax || (text[0] == '0' && text.size() > 1))
    return std::nullopt;
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

PackedUid::PackedUid(std::string_view text) {
  if (text.empty()) return;
  if (const auto uuid = uuid_of(text))
    high_ = uuid->high, low_ = uuid->low;
  else
    high_ = on_the_heap(text);
}

PackedUid::~PackedUid() {
  if (!is_uuid()) delete other();
}

std::string PackedUid::text() const {
  if (empty()) return "";
  if (!is_uuid()) return *other();
  std::string text(kUuidLength, '-');
  std::uint64_t high = high_, low = low_;
  for (std::size_t at = kUuidLength; at-- > 0;) {
    if (is_uuid_dash(at)) continue;
    std::uint64_t& half = at < 18 ? high : low;
    text[at] = kLowerHexDigits[half & 15];
    half >>= 4;
  }
  return text;
}

bool operator==(const PackedUid& a, std::string_view b) {
  if (a.empty()) return b.empty();
  if (!a.is_uuid()) return *a.other() == b;
  const auto uuid = uuid_of(b);
  return uuid && uuid->high == a.high_ && uuid->low == a.low_;
}

PackedVersion::PackedVersion(std::string_view text) {
  if (text.empty()) return;
  const auto number = packed_number_of(text);
  bits_ = number ? *number << 1 | 1 : on_the_heap(text);
}

PackedVersion::~PackedVersion() {
  if (!is_number()) delete other();
}

bool operator==(const PackedVersion& a, std::string_view b) {
  if (a.empty()) return b.empty();
  return a.is_number() ? packed_number_of(b) == a.bits_ >> 1 : *a.other() == b;
}

bool is_lower_version(std::string_view a, const PackedVersion& b) {
  if (!b.is_number()) return is_lower_version(a, b.text());
  const auto number = version_number(a);
  return number && *number < b.bits_ >> 1;
}

std::string PackedVersion::text() const {
  if (empty()) return "";
  return is_number() ? std::to_string(bits_ >> 1) : *other();
}

}  // namespace fairlead
