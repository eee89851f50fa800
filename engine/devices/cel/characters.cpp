#include "engine/devices/cel/characters.h"

namespace fairlead::cel {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }
bool is_surrogate(std::uint32_t character) { return character >= 0xD800 && character <= 0xDFFF; }

/// The code point at the front of a text, and its bytes; 0 bytes if there is none.
struct Front {
  std::uint32_t character = 0;
  std::size_t bytes = 0;
};

Front front_of(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  // 0xC0 and 0xC1 begin overlong forms only, and what begins above 0xF4 is above U+10FFFF.
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  std::uint32_t character = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return {};
    character = character << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && character < 0x800) || (bytes == 4 && character < 0x10000);
  if (overlong || is_surrogate(character) || character > 0x10FFFF) return {};
  return {character, bytes};
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Front front = front_of(text);
    if (front.bytes == 0) return false;
    text.remove_prefix(front.bytes);
  }
  return true;
}

std::int64_t count_characters(std::string_view text) {
  std::int64_t count = 0;
  for (const char byte : text) count += continues(byte) ? 0 : 1;
  return count;
}

std::size_t offset_of(std::string_view text, std::int64_t index) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues(text[at])) continue;
    if (index == 0) return at;
    --index;
  }
  return index == 0 ? at : std::string_view::npos;
}

bool append_character(std::string& out, std::uint32_t character) {
  if (is_surrogate(character) || character > 0x10FFFF) return false;
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | (character >> shift & 0x3FU));
  };
  if (character < 0x80) {
    out += static_cast<char>(character);
  } else if (character < 0x800) {
    out += static_cast<char>(0xC0U | character >> 6U);
    tail(0);
  } else if (character < 0x10000) {
    out += static_cast<char>(0xE0U | character >> 12U);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0U | character >> 18U);
    tail(12), tail(6), tail(0);
  }
  return true;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kBytesMax = 64;
  std::size_t end = text.size();
  if (end > kBytesMax)
    for (end = kBytesMax; end > 0 && continues(text[end]); --end) continue;
  return "`" + std::string(text.substr(0, end)) + (end < text.size() ? "...`" : "`");
}

}  // namespace fairlead::cel
