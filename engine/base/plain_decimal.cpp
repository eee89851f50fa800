#include "engine/base/plain_decimal.h"

#include <algorithm>

namespace fairlead {

std::string fixed_decimal(Int128 value, int places) {
  const bool negative = value < 0;
  const auto fraction = static_cast<std::size_t>(places);
  std::string digits;  // the last one first
  for (Int128 rest = value; rest != 0 || digits.size() <= fraction; rest /= 10) {
    const auto digit = static_cast<int>(rest % 10);  // as negative as `value`
    digits += static_cast<char>('0' + (negative ? -digit : digit));
  }
  std::reverse(digits.begin(), digits.end());
  if (fraction > 0) digits.insert(digits.size() - fraction, ".");
  return negative ? "-" + digits : digits;
}

std::string plain_decimal(Int128 value, int places) {
  std::string text = fixed_decimal(value, places);
  if (places == 0) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace fairlead
