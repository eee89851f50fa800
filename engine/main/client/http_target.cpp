#include "engine/main/client/http_target.h"

#include <optional>

namespace fairlead {

namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10U;
  return std::nullopt;
}

Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low)
      return Error{ErrorCode::bad_input, "not percent-encoded: " + std::string(text)};
    out += static_cast<char>(*high * 16U + *low);
    i += 2;
  }
  return out;
}

}  // namespace

void HttpTarget::add(std::string_view name, const std::string& value) {
  if (!value.empty()) parameters.emplace_back(name, value);
}

std::string to_text(const HttpTarget& target) {
  std::string text = target.path;
  char separator = '?';
  for (const auto& [name, value] : target.parameters) {
    text += separator + percent_encoded(name) + "=" + percent_encoded(value);
    separator = '&';
  }
  return text;
}

Result<HttpTarget> parse_target(std::string_view text) {
  const std::size_t mark = text.find('?');
  HttpTarget target{std::string(text.substr(0, mark)), {}};
  std::string_view query = mark == std::string_view::npos ? "" : text.substr(mark + 1);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view entry = query.substr(0, end);
    query = end == std::string_view::npos ? "" : query.substr(end + 1);
    const std::size_t equals = entry.find('=');
    auto value = percent_decoded(equals == std::string_view::npos ? "" : entry.substr(equals + 1));
    if (!value) return value.error();
    target.parameters.emplace_back(entry.substr(0, equals), *std::move(value));
  }
  return target;
}

}  // namespace fairlead
