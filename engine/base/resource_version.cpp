#include "engine/base/resource_version.h"

#include <algorithm>
#include <charconv>

namespace fairlead {

namespace {

bool is_natural(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<std::uint64_t> version_number(std::string_view version) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), value);
  if (version.empty() || error != std::errc{} || end != version.data() + version.size())
    return std::nullopt;
  return value;
}

bool is_lower_version(std::string_view a, std::string_view b) {
  constexpr std::size_t kDigitsSafe = 19;  // every number of 19 digits fits 64 bits
  if (a.size() == b.size() && a.size() <= kDigitsSafe)
    return a < b && is_natural(a) && is_natural(b);  // equal lengths: text order is number order
  const auto low = version_number(a), high = version_number(b);
  return low && high && *low < *high;
}

bool includes_version(std::string_view version, std::string_view than) {
  return version_number(version) && version_number(than) && !is_lower_version(version, than);
}

}  // namespace fairlead
