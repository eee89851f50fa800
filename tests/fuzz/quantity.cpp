// Any text as an amount: a second reader agrees, and its canonical text is read as the same.
#include "engine/base/quantity.h"

#include <algorithm>
#include <string>

#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

constexpr Int128 kNano = 1'000'000'000;

// The amount as a schoolbook would read it, where it is short enough not to overflow: sign, digits
// with at most one point, suffix; rounded away from zero.
std::optional<Int128> read_slowly(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end), suffix = text.substr(end);
  const std::size_t point = std::min(number.find('.'), number.size());
  std::string digits(number.substr(0, point));
  if (point < number.size()) digits += number.substr(point + 1);
  if (digits.empty() || digits.find('.') != std::string::npos) return std::nullopt;
  Int128 value = 0, divisor = 1;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  for (std::size_t i = point + 1; i < number.size(); ++i) divisor *= 10;
  Int128 unit = kNano;
  static constexpr std::string_view kUp = "kMGTPE", kDown = "mun";
  if (suffix.size() == 2 && suffix[1] == 'i') {
    static constexpr std::string_view kBinary = "KMGTPE";
    const std::size_t power = kBinary.find(suffix[0]);
    if (power == std::string_view::npos) return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) unit *= 1024;
  } else if (suffix.size() == 1) {
    const std::size_t up = kUp.find(suffix[0]), down = kDown.find(suffix[0]);
    if (up == std::string_view::npos && down == std::string_view::npos) return std::nullopt;
    if (up != std::string_view::npos)
      for (std::size_t i = 0; i <= up; ++i) unit *= 1000;
    else
      for (std::size_t i = 0; i <= down; ++i) divisor *= 1000;
  } else if (!suffix.empty()) {
    return std::nullopt;
  }
  const Int128 nano = (value * unit + divisor - 1) / divisor;
  return minus ? -nano : nano;
}

void check_amounts(const Quantity& quantity) {
  for (const char* resource : {"cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi"}) {
    const Amount amount = to_amount(resource, quantity);
    check((amount < 0) == quantity.negative() && (amount == 0) == (quantity.nano() == 0),
          "an amount keeps its sign");
    const Quantity back = to_quantity(resource, amount);
    check(to_amount(resource, back) == amount, "an amount is read as it is written");
    check(amount_text(resource, amount) == back.text(), "both texts are the same");
    const bool saturated = amount == INT64_MAX || amount == INT64_MIN;
    check(saturated || (quantity.negative() ? back <= quantity : back >= quantity),
          "rounding goes away from zero");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(data, size);
  const auto quantity = Quantity::parse(text);
  // Nine digits times 1024^6 nano units stay below 2^127; exponents are not read slowly.
  if (text.size() <= 11 && text.find('e') == std::string_view::npos &&
      text.find('E') == std::string_view::npos) {
    const auto slowly = read_slowly(text);
    check(quantity.has_value() == slowly.has_value(), "both readers take the same texts");
    const Int128 most = text.ends_with('i') ? Int128{INT64_MAX} * kNano : ~(Int128{1} << 127);
    if (quantity)
      check(quantity->nano() == std::clamp<Int128>(*slowly, -most, most), "both read the same");
  }
  if (!quantity) return 0;
  const std::string canonical = quantity->text();
  const auto again = Quantity::parse(canonical);
  check(again.has_value() && *again == *quantity, "canonical text is read as the same");
  check(again->text() == canonical, "canonical text is a fixed point");
  check_amounts(*quantity);
  return 0;
}
