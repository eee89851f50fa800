#include "replay/usage/largest_remainder.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace fairlead {

std::vector<Int128> by_largest_remainder(const std::vector<ExactPart>& parts, Int128 unit) {
  std::vector<Int128> rounded;
  Int128 rests = 0;
  for (const ExactPart& part : parts) {
    rounded.push_back(part.whole);
    rests += part.rest;
  }
  const Int128 half = (rests % unit) * 2 >= unit ? 1 : 0;
  const auto up = static_cast<std::size_t>(rests / unit + half);
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return parts[a].rest != parts[b].rest ? parts[a].rest > parts[b].rest : a < b;
  });
  for (std::size_t i = 0; i < up; ++i) ++rounded.at(order.at(i));
  return rounded;
}

}  // namespace fairlead
