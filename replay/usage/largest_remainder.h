// Rounds parts so that they add up to the rounded sum.
#pragma once

#include <vector>

#include "engine/base/quantity.h"

namespace fairlead {

/// An amount: whole + rest / unit, with 0 <= rest < unit, where `unit` is that of all parts.
struct ExactPart {
  Int128 whole = 0;
  Int128 rest = 0;
};

/// Returns the parts as whole numbers whose sum is the exact sum, rounded half up. Those with the
/// largest rests are rounded up; of equal ones the first.
std::vector<Int128> by_largest_remainder(const std::vector<ExactPart>& parts, Int128 unit);

}  // namespace fairlead
