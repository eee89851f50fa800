#include "engine/base/packed_identity.h"

#include <charconv>
#include <cstddef>
#include <optional>

namespace fairlead {
namespace {

static_assert(sizeof(std::uintptr_t) == sizeof(std::uint64_t), "an address takes 64 bits");

constexpr std::size_t kUuidLength = 36;
constexpr std::string_view kLowerHexDigits = "0123456789abcdef";

bool is_uuid_dash(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

struct UuidHalves {
  std::uint64_t high = 0, low = 0;
};

// Of digits in lower case alone: others would come back in another case.
std::optional<UuidHalves> uuid_of(std::string_view text) {
  if (text.size() != kUuidLength) return std::nullopt;
  UuidHalves halves;
  for (std::size_t at = 0; at < kUuidLength; ++at) {
    const char c = text[at];
    if (is_uuid_dash(at)) {
      if (c != '-') return std::nullopt;
      continue;
    }
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    std::uint64_t& half = at < 18 ? halves.high : halves.low;
    half = half << 4 | static_cast<std::uint64_t>(digit);
  }
  if (halves.low >> 62 != 2) return std::nullopt;
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

std::string PackedVersion::text() const {
  if (empty()) return "";
  return is_number() ? std::to_string(bits_ >> 1) : *other();
}

}  // namespace fairlead
