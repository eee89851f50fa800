// Dividing a bound among assignments: the shrink policies.
//
// The result depends on the rows alone, never on the order in which they were edited. All amounts
// are in the units of Amount for the resource at hand. README.md has the rules under "How quota is
// divided".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/quantity.h"

namespace fairlead {

enum class ShrinkPolicy : std::uint8_t { proportional, priority };

/// One assignment that wants a share of a bound.
struct Share {
  std::string cluster_queue;
  std::string flavor;
  Amount assigned = 0;  ///< what it may have at most
  Amount minimum = 0;   ///< what it gets first; at most `assigned`
  std::int32_t priority = 0;
};

/// What each share gets, in the order of `shares`.
struct Division {
  std::vector<Amount> granted;
  bool minimums_above_bound = false;  ///< the minimums alone did not fit
};

/// Grants every share its assignment where all fit into `bound`; else divides `bound`, rounded down
/// to `quantum`, by `policy`.
Division divide(const std::vector<Share>& shares, Amount bound, Amount quantum,
                ShrinkPolicy policy);

}  // namespace fairlead
