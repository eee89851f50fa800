#include "engine/devices/cel/value.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "engine/devices/cel/characters.h"
#include "engine/devices/cel/version.h"

namespace fairlead::cel {
namespace {

constexpr std::int64_t kNanoPerUnit = 1'000'000'000;

/// Removes the digits at the front of `text` and returns them.
std::string_view take_digits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of(kDecimalDigits));
  text.remove_prefix(digits.size());
  return digits;
}

/// Whether apimachinery keeps an amount of so many digits with a binary suffix as 64-bit integer:
/// 15 decimal digits, of which the suffix takes three for each 2^10.
bool binary_is_short(std::size_t digits, char suffix) {
  const std::size_t power = std::string_view("KMGTPE").find(suffix) + 1;
  return digits + power * 3 + 1 <= 15;
}

/// The power of ten that a decimal suffix or exponent means, bounded: what is beyond does not
/// fit into an integer or is a fraction anyway.
int decimal_scale(std::string_view suffix) {
  constexpr std::string_view kSmall = "mun", kLarge = "kMGTPE";
  if (suffix.empty()) return 0;
  if (suffix.size() == 1) {
    if (const auto at = kLarge.find(suffix[0]); at != std::string_view::npos)
      return 3 * (static_cast<int>(at) + 1);
    return -3 * (static_cast<int>(kSmall.find(suffix[0])) + 1);
  }
  suffix.remove_prefix(suffix[1] == '+' ? 2 : 1);
  int scale = 0;
  const auto read = std::from_chars(suffix.data(), suffix.data() + suffix.size(), scale);
  if (read.ec == std::errc()) return std::clamp(scale, -1000, 1000);
  return suffix.front() == '-' ? -1000 : 1000;
}

/// Whether a text, which is a quantity, is spelled in a way that AsInt64 reads.
bool spelled_as_integer(std::string_view text) {
  constexpr std::size_t kDecimalDigitsMax = 18;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.empty()) return true;
  const std::size_t digits = std::max<std::size_t>(take_digits(text).size(), 1);
  const bool point = text.starts_with('.');
  if (point) text.remove_prefix(1);
  const std::size_t places = point ? take_digits(text).size() : 0;
  if (text.ends_with('i')) return places == 0 && binary_is_short(digits, text.front());
  return digits + places <= kDecimalDigitsMax && decimal_scale(text) >= static_cast<int>(places);
}

}  // namespace

Value parse_integer(std::string_view text) {
  std::string_view digits = text;
  // from_chars() reads a minus, but no plus.
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.size() < text.size() && digits.starts_with('-')) return fault(Fault::malformed, "int");
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stop != end) return fault(Fault::malformed, "int");
  return integer(number);
}

Value parse_quantity(std::string_view text) {
  const auto amount = Quantity::parse(text);
  return amount ? quantity(*amount, text) : fault(Fault::malformed, "quantity");
}

Value parse_version(std::string_view text) {
  return is_version(text) ? named(Kind::version, text) : fault(Fault::malformed, "version");
}

bool reads_as_integer(const Value& amount) {
  if (amount.number % kNanoPerUnit != 0) return false;
  const Int128 units = amount.number / kNanoPerUnit;
  if (saturate(units) != units) return false;
  if (!amount.text.empty()) return spelled_as_integer(amount.text);
  return spelled_as_integer(Quantity(amount.number, amount.format).text());
}

std::string describe(const Value& error) {
  const std::string about(error.text);
  switch (error.fault) {
    case Fault::not_published: return "the device does not publish " + in_quotes(about);
    case Fault::no_such_field: return "there is no field " + in_quotes(about);
    case Fault::no_such_operation: return "no " + in_quotes(about) + " for values of these types";
    case Fault::out_of_range: return "out of range: " + about;
    case Fault::malformed: return "a text that is no " + about;
    case Fault::invalid_pattern: return "invalid pattern " + in_quotes(about);
    case Fault::too_many_steps: return "more than " + about + " evaluation steps";
  }
  return "";
}

}  // namespace fairlead::cel
