#include "engine/base/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace fairlead {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr Int128 kInt128Max = static_cast<Int128>(~Uint128{0} >> 1);
constexpr std::int64_t kNanoPerUnit = 1'000'000'000;
constexpr std::int64_t kNanoPerMilli = 1'000'000;
/// apimachinery caps binary suffixes at this many units, however large the number before them.
constexpr Int128 kBinaryMaxNano = static_cast<Int128>(INT64_MAX) * kNanoPerUnit;

struct Suffix {
  std::string_view text;
  int power;  ///< of 10, or of 1024
};
constexpr std::array<Suffix, 10> kDecimal{{{"n", -9},
                                           {"u", -6},
                                           {"m", -3},
                                           {"", 0},
                                           {"k", 3},
                                           {"M", 6},
                                           {"G", 9},
                                           {"T", 12},
                                           {"P", 15},
                                           {"E", 18}}};
constexpr std::array<Suffix, 7> kBinary{
    {{"", 0}, {"Ki", 1}, {"Mi", 2}, {"Gi", 3}, {"Ti", 4}, {"Pi", 5}, {"Ei", 6}}};

struct Scale {
  QuantityFormat format = QuantityFormat::decimal_si;
  std::int64_t power10 = 0;
  int power1024 = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Parses the text behind the number. `1E` is exa, `1E3` an exponent, `1e` neither.
std::optional<Scale> parse_scale(std::string_view suffix) {
  for (const Suffix& known : kDecimal)
    if (known.text == suffix) return Scale{QuantityFormat::decimal_si, known.power, 0};
  for (const Suffix& known : kBinary)
    if (known.text == suffix) return Scale{QuantityFormat::binary_si, 0, known.power};
  if (suffix.size() < 2 || (suffix.front() != 'e' && suffix.front() != 'E')) return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.front() == '+') {
    suffix.remove_prefix(1);  // from_chars reads only a minus
    if (suffix.empty() || !is_digit(suffix.front())) return std::nullopt;
  }
  Scale scale;
  const char* const end = suffix.data() + suffix.size();
  const auto [stop, error] = std::from_chars(suffix.data(), end, scale.power10);
  if (error != std::errc{} || stop != end) return std::nullopt;
  // Beyond these bounds every value saturates or rounds to one nano. The clamp keeps later sums of
  // exponents from overflowing.
  scale.power10 = std::clamp<std::int64_t>(scale.power10, -1'000'000'000, 1'000'000'000);
  return scale;
}

/// Returns the nano units of 1 with this suffix; 0 if it is not one of the common suffixes.
constexpr std::int64_t nano_per(std::string_view suffix) {
  if (suffix.empty()) return kNanoPerUnit;
  if (suffix.size() == 2 && suffix[1] == 'i') {
    switch (suffix[0]) {
      case 'K': return kNanoPerUnit << 10;
      case 'M': return kNanoPerUnit << 20;
      case 'G': return kNanoPerUnit << 30;
      default: return 0;
    }
  }
  if (suffix.size() != 1) return 0;
  switch (suffix[0]) {
    case 'm': return kNanoPerMilli;
    case 'k': return kNanoPerUnit * 1000;
    case 'M': return kNanoPerUnit * 1'000'000;
    case 'G': return kNanoPerUnit * 1'000'000'000;
    default: return 0;
  }
}

/// Fast path for the usual case: a whole number of at most 18 digits with a common suffix, whose
/// value cannot overflow. Returns nullopt for anything else, malformed or not.
std::optional<Quantity> parse_whole(std::string_view text) {
  constexpr std::size_t kDigitsMax = 18;
  const std::size_t digits_end = std::min(text.size(), kDigitsMax);
  std::int64_t value = 0;
  std::size_t at = 0;
  for (; at < digits_end && is_digit(text[at]); ++at) value = value * 10 + (text[at] - '0');
  const std::string_view suffix = text.substr(at);
  const std::int64_t each = nano_per(suffix);
  if (at == 0 || each == 0) return std::nullopt;
  // Below 10^18 times 2^30 * 10^9, which is 1.1 * 10^36. Int128 holds 1.7 * 10^38.
  const Int128 nano = Int128{value} * each;
  if (suffix.size() < 2) return Quantity{nano, QuantityFormat::decimal_si};
  return Quantity{std::min(nano, kBinaryMaxNano), QuantityFormat::binary_si};
}

/// Multiplies a decimal number, most significant digit first, by 1024.
void times_1024(std::string& digits) {
  unsigned carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const unsigned product = static_cast<unsigned>(*digit - '0') * 1024 + carry;
    *digit = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  if (carry > 0) digits.insert(0, std::to_string(carry));
}

/// Returns digits * 10^shift, rounded away from zero, saturating at kInt128Max.
Int128 scaled(std::string_view digits, std::int64_t shift) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  bool round_up = false;
  if (shift < 0) {
    const std::size_t drop = std::min(static_cast<std::size_t>(-shift), digits.size());
    const std::string_view dropped = digits.substr(digits.size() - drop);
    round_up = dropped.find_first_not_of('0') != std::string_view::npos ||
               static_cast<std::size_t>(-shift) > digits.size();
    digits.remove_suffix(drop);
    shift = 0;
  }
  // kInt128Max has 39 digits.
  if (digits.size() + static_cast<std::uint64_t>(shift) > 39) return kInt128Max;
  Int128 value = 0;
  const std::size_t places = digits.size() + static_cast<std::size_t>(shift);
  for (std::size_t i = 0; i < places; ++i) {
    const int digit = i < digits.size() ? digits[i] - '0' : 0;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
      return kInt128Max;
  }
  return round_up && value < kInt128Max ? value + 1 : value;
}

std::string digits_of(Uint128 value) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value > 0);
  return text;
}

Uint128 magnitude(Int128 value) {
  // -value would overflow for the least one.
  return value < 0 ? ~static_cast<Uint128>(value) + 1 : static_cast<Uint128>(value);
}

// Prints `value` units of suffixes[power] with the largest suffix that leaves a whole number.
template <std::size_t count>
std::string scaled_text(Uint128 value, std::size_t power, std::uint64_t step,
                        const std::array<Suffix, count>& suffixes) {
  while (value > UINT64_MAX && power + 1 < count && value % step == 0) {
    value /= step;
    ++power;
  }
  if (value > UINT64_MAX) return digits_of(value) + std::string(suffixes[power].text);
  std::uint64_t small = static_cast<std::uint64_t>(value);  // much faster in 64 bits
  for (; power + 1 < count && small % step == 0; ++power) small /= step;
  return std::to_string(small).append(suffixes[power].text);
}

std::string binary_text(Uint128 units) { return scaled_text(units, 0, 1024, kBinary); }

// Indices in kDecimal.
constexpr std::size_t kNano = 0, kMilli = 2, kUnit = 3;
std::string decimal_text(Uint128 value, std::size_t power) {
  return scaled_text(value, power, 1000, kDecimal);
}

/// Returns value / divisor, rounded away from zero as apimachinery's Value() and MilliValue() do.
Int128 divide_away_from_zero(Int128 value, std::int64_t divisor) {
  if (saturate(value) == value) {  // much faster in 64 bits
    const std::int64_t small = saturate(value), quotient = small / divisor;
    return small % divisor == 0 ? quotient : small < 0 ? quotient - 1 : quotient + 1;
  }
  const Int128 quotient = value / divisor;
  if (quotient * divisor == value) return quotient;
  return value < 0 ? quotient - 1 : quotient + 1;
}

bool counted_in_bytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

}  // namespace

std::optional<Quantity> Quantity::parse(std::string_view text) {
  if (const auto whole = parse_whole(text)) return whole;
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  const auto parse_digits = [&text] {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    const std::string_view digits_read =
        text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits_read.size());
    return digits_read;
  };
  std::string digits(parse_digits());
  std::int64_t places = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view fraction = parse_digits();
    digits += fraction;
    places = static_cast<std::int64_t>(fraction.size());
  }
  if (digits.empty()) return std::nullopt;
  const std::optional<Scale> scale = parse_scale(text);
  if (!scale) return std::nullopt;

  for (int i = 0; i < scale->power1024; ++i) times_1024(digits);
  Int128 nano = scaled(digits, 9 - places + scale->power10);
  QuantityFormat format = scale->format;
  if (format == QuantityFormat::binary_si) {
    nano = std::min(nano, kBinaryMaxNano);
    if (nano > 0 && nano < kNanoPerUnit) format = QuantityFormat::decimal_si;
  }
  return Quantity{minus ? -nano : nano, format};
}

std::string Quantity::text() const {
  if (nano_ == 0) return "0";
  const Uint128 size = magnitude(nano_);
  const bool whole = nano_ % kNanoPerUnit == 0;
  const Uint128 units = size / static_cast<Uint128>(kNanoPerUnit);
  const bool binary = format_ == QuantityFormat::binary_si && whole && units >= 1024;
  return (nano_ < 0 ? "-" : "") + (binary ? binary_text(units) : decimal_text(size, kNano));
}

Amount to_amount(std::string_view resource, const Quantity& quantity) {
  return saturate(
      divide_away_from_zero(quantity.nano(), resource == "cpu" ? kNanoPerMilli : kNanoPerUnit));
}

Quantity to_quantity(std::string_view resource, Int128 amount) {
  Int128 nano = 0;
  if (__builtin_mul_overflow(amount, resource == "cpu" ? kNanoPerMilli : kNanoPerUnit, &nano))
    nano = amount < 0 ? -kInt128Max : kInt128Max;
  return {nano,
          counted_in_bytes(resource) ? QuantityFormat::binary_si : QuantityFormat::decimal_si};
}

std::string amount_text(std::string_view resource, Int128 amount) {
  if (amount <= 0 || saturate(amount) != amount) return to_quantity(resource, amount).text();
  const auto size = static_cast<Uint128>(amount);  // the same text without going through nano units
  if (size >= 1024 && counted_in_bytes(resource)) return binary_text(size);
  return decimal_text(size, resource == "cpu" ? kMilli : kUnit);
}

Amount quantum_of(std::string_view resource) {
  if (resource == "cpu") return 1000;
  return counted_in_bytes(resource) ? Amount{1} << 20 : 1;
}

}  // namespace fairlead
