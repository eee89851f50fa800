// Dividing a bound among assignments: the shrink policies.
//
// The result depends on the rows alone, never on the order in which they were edited. All amounts
// are in the units of Amount for the resource at hand. docs/claims.md has the rules under
// "How quota is divided".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"

namespace fairlead {

enum class ShrinkPolicy : std::uint8_t { proportional, priority };

/// One assignment that wants a share of a bound. The caller owns the names.
struct Share {
  std::string_view cluster_queue;
  std::string_view flavor;
  Amount assigned = 0;  ///< what it may have at most
  Amount minimum = 0;   ///< what it gets first; at most `assigned`
  std::int32_t priority = 0;
};

/// What each share gets, in the order of `shares`.
struct Division {
  std::vector<Amount> granted;
  bool minimums_above_bound = false;  ///< the minimums alone did not fit
};

/// Whether all shares can have what is assigned to them.
bool fits(const std::vector<Share>& shares, Amount bound);
/// Grants every share its assignment where all fit into `bound`; else divides `bound`, rounded down
/// to `quantum`, by `policy`.
Division divide(const std::vector<Share>& shares, Amount bound, Amount quantum,
                ShrinkPolicy policy);

}  // namespace fairlead
