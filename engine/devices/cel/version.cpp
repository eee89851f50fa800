#include "engine/devices/cel/version.h"

#include <algorithm>
#include <cstdint>

#include "engine/devices/cel/characters.h"

namespace fairlead::cel {
namespace {

constexpr std::string_view kIdentifier =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-";

/// The parts of a version. Absent and empty differ: `1.0.0-` is not a version.
struct Parts {
  std::string_view major, minor, patch;
  std::optional<std::string_view> prerelease, build;
};

/// Cuts `text` at its first `separator`; the second part is absent if there is none.
std::optional<std::string_view> cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
}

Parts parts_of(std::string_view text) {
  Parts parts;
  parts.major = text;
  parts.minor = cut(parts.major, '.').value_or("");
  parts.patch = cut(parts.minor, '.').value_or("");
  // The build first: it may hold hyphens, and a prerelease holds no plus.
  parts.build = cut(parts.patch, '+');
  parts.prerelease = cut(parts.patch, '-');
  return parts;
}

bool is_numeric(std::string_view text) {
  return text.find_first_not_of(kDecimalDigits) == std::string_view::npos;
}

// Numbers have no leading zeros here, so the longer one is larger.
std::strong_ordering compare_numbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a <=> b;
}

bool is_number(std::string_view text) {
  if (text.empty() || !is_numeric(text) || (text.size() > 1 && text.front() == '0')) return false;
  // github.com/blang/semver, which Kubernetes uses, keeps numbers in 64 bits.
  return compare_numbers(text, "18446744073709551615") <= 0;
}

bool is_build_identifier(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kIdentifier) == std::string_view::npos;
}
bool is_prerelease_identifier(std::string_view text) {
  return is_numeric(text) ? is_number(text) : is_build_identifier(text);
}

template <class Test>
bool all_identifiers(std::optional<std::string_view> list, const Test& test) {
  while (list) {
    std::string_view first = *list;
    list = cut(first, '.');
    if (!test(first)) return false;
  }
  return true;
}

// Source: semver 2, rule 11: numeric identifiers compare as numbers and come before all others; of
// two lists with equal beginnings the shorter one comes first.
std::strong_ordering compare_identifiers(std::string_view a, std::string_view b) {
  const bool a_counts = is_numeric(a), b_counts = is_numeric(b);
  if (a_counts != b_counts)
    return a_counts ? std::strong_ordering::less : std::strong_ordering::greater;
  return a_counts ? compare_numbers(a, b) : a <=> b;
}

}  // namespace

bool is_version(std::string_view text) {
  const Parts parts = parts_of(text);
  return is_number(parts.major) && is_number(parts.minor) && is_number(parts.patch) &&
         all_identifiers(parts.prerelease, is_prerelease_identifier) &&
         all_identifiers(parts.build, is_build_identifier);
}

std::strong_ordering compare_versions(std::string_view a, std::string_view b) {
  const Parts left = parts_of(a), right = parts_of(b);
  for (const auto part : {&Parts::major, &Parts::minor, &Parts::patch})
    if (const auto order = compare_numbers(left.*part, right.*part); order != 0) return order;
  std::optional<std::string_view> rest = left.prerelease, other = right.prerelease;
  if (rest.has_value() != other.has_value())  // a release comes after its own prereleases
    return rest ? std::strong_ordering::less : std::strong_ordering::greater;
  while (rest && other) {
    std::string_view one = *rest, two = *other;
    rest = cut(one, '.');
    other = cut(two, '.');
    if (const auto order = compare_identifiers(one, two); order != 0) return order;
  }
  return rest.has_value() <=> other.has_value();
}

std::optional<std::string> normalized_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::string made;
  std::optional<std::string_view> rest = text;
  for (int part = 0; part < 3; ++part) {
    if (part > 0) made += '.';
    if (!rest) {
      made += '0';
      continue;
    }
    std::string_view number = *rest;
    rest = part < 2 ? cut(number, '.') : std::nullopt;
    if (part < 2 && !rest && number.find_first_of("+-") != std::string_view::npos)
      return std::nullopt;  // a short version has neither prerelease nor build
    if (number.size() > 1) {
      number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
      if (number.empty() || !is_numeric(number.substr(0, 1))) made += '0';
    }
    made += number;
  }
  return is_version(made) ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace fairlead::cel
