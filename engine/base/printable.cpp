#include "engine/base/printable.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace fairlead {

namespace {

constexpr std::string_view kSpelledDigits = "0123456789abcdef";

// One character of UTF-8; `bytes` is 0 where a text has none.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};

// Source: RFC 3629, section 4: no overlong form, no surrogate, nothing above U+10FFFF.
CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  const std::uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, bytes};
}

bool has_effect(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0)          // C0, DEL, C1
         || c == 0x200E || c == 0x200F || c == 0x61C  // marks of direction
         || (c >= 0x2028 && c <= 0x202E)              // separators, embeddings, overrides
         || (c >= 0x2066 && c <= 0x2069);             // isolates
}

void append_spelled(std::string& out, std::uint32_t c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kSpelledDigits[c >> shift & 0xFU];
  }
}

template <class Keeps>
std::string spelled(std::string_view text, const Keeps& keeps) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);  // nearly all
  std::string out;
  while (!text.empty()) {
    const CodePoint first = first_of(text);
    const std::size_t bytes = std::max(first.bytes, std::size_t{1});
    if (first.bytes == 0) {
      const auto byte = static_cast<std::uint8_t>(text.front());
      out += {'\\', 'x', kSpelledDigits[byte >> 4U], kSpelledDigits[byte & 0xFU]};
    } else if (has_effect(first.value) && !keeps(first.value)) {
      append_spelled(out, first.value);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return spelled(text, [](std::uint32_t) { return false; });
}

std::string printable_lines(std::string_view text) {
  return spelled(text, [](std::uint32_t c) { return c == '\n'; });
}

Json printable_document(const Json& document) {
  if (document.is_string()) return printable(document.get_ref<const std::string&>());
  if (!document.is_structured()) return document;
  Json shown = document.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : document.items()) {
    if (document.is_array())
      shown.push_back(printable_document(value));
    else
      shown[printable(key)] = printable_document(value);
  }
  return shown;
}

}  // namespace fairlead
