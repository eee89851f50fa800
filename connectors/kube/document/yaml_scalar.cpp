// The scalar rules of sigs.k8s.io/yaml, checked against kubectl.
#include <algorithm>
#include <array>
#include <charconv>

#include "connectors/kube/document/yaml_document.h"

namespace fairlead {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// 0x1f, 0b11, 0o17, 017 and decimal, with underscores, as Go's ParseInt(text, 0, 64) and ParseUint
// read them.
std::optional<std::string> as_integer(std::string_view text) {
  std::string digits;
  for (char c : text)
    if (c != '_') digits += c;
  std::string_view rest = digits;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty() || !is_digit(rest[0])) return std::nullopt;
  int base = 10;
  if (rest.size() > 1 && rest[0] == '0') {
    const char mark = static_cast<char>(rest[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    rest.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
    if (rest.empty()) return std::nullopt;
  }
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (end != rest.data() + rest.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    if (base != 10) return std::nullopt;
    return (negative ? "-" : "") +
           std::string(rest);  // every digit, although no machine integer holds it
  }
  if (error != std::errc{}) return std::nullopt;
  return (negative && value != 0 ? "-" : "") + std::to_string(value);
}

// ^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$, underscores dropped; the text becomes a
// JSON token.
std::optional<std::string> as_decimal(std::string_view text) {
  std::string plain;
  for (char c : text)
    if (c != '_') plain += c;
  std::string_view rest = plain;
  std::string out;
  if (rest.starts_with('-')) out = "-";
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  auto digits = [&] {
    std::size_t n = 0;
    while (n < rest.size() && is_digit(rest[n])) ++n;
    std::string_view consumed = rest.substr(0, n);
    rest.remove_prefix(n);
    return consumed;
  };
  std::string_view whole = digits();
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = digits();
    if (whole.empty() && fraction.empty()) return std::nullopt;
  } else if (whole.empty()) {
    return std::nullopt;
  }
  while (whole.size() > 1 && whole[0] == '0') whole.remove_prefix(1);
  out += whole.empty() ? "0" : whole;
  if (!fraction.empty()) out.append(".").append(fraction);
  if (rest.empty()) return out;
  if (rest[0] != 'e' && rest[0] != 'E') return std::nullopt;
  out += rest[0];
  rest.remove_prefix(1);
  if (rest.starts_with('-') || rest.starts_with('+')) {
    out += rest[0];
    rest.remove_prefix(1);
  }
  std::string_view exponent = digits();
  if (exponent.empty() || !rest.empty()) return std::nullopt;
  return out.append(exponent);
}

constexpr std::array<std::string_view, 11> kTrue{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                 "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse{"n",     "N",     "no",  "No",  "NO", "false",
                                                  "False", "FALSE", "off", "Off", "OFF"};

bool one_of(const std::array<std::string_view, 11>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

PlainScalar resolve_plain(std::string_view scalar) {
  if (scalar.empty() || scalar == "~" || scalar == "null" || scalar == "Null" || scalar == "NULL")
    return {JsonKind::null, {}};
  if (one_of(kTrue, scalar)) return {JsonKind::boolean, "true"};
  if (one_of(kFalse, scalar)) return {JsonKind::boolean, "false"};
  const char first = scalar[0];
  if (is_digit(first) || first == '-' || first == '+' || first == '.') {
    if (auto integer = as_integer(scalar)) return {JsonKind::number, *integer};
    if (auto decimal = as_decimal(scalar)) return {JsonKind::number, *decimal};
  }
  return {JsonKind::string, std::string(scalar)};
}

}  // namespace fairlead
