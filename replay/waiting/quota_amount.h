// Sums of quota as Kueue makes them: the greatest amount means unlimited and stays so, everything
// else saturates. Source: Kueue pkg/resources/amount.go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "engine/base/quantity.h"

namespace fairlead {

inline constexpr Amount kUnlimited = INT64_MAX;

/// Returns the amount of a quota. Source: Kueue AmountFromQuantity.
inline Amount quota_amount(std::string_view resource, const Quantity& quantity) {
  constexpr Amount kMostCores = INT64_MAX / 1000;
  const Amount amount = to_amount(resource, quantity);
  return resource == "cpu" && amount >= kMostCores * 1000 ? kUnlimited : amount;
}

constexpr Amount quota_sum(Amount a, Amount b) {
  if (a == kUnlimited || b == kUnlimited) return kUnlimited;
  return saturate(Int128{a} + b);
}
constexpr Amount quota_difference(Amount a, Amount b) {
  if (a == kUnlimited) return b == kUnlimited ? 0 : kUnlimited;
  return b == kUnlimited ? INT64_MIN : saturate(Int128{a} - b);
}

}  // namespace fairlead
