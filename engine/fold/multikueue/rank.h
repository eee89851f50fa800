// The rank of a cluster among the workers of a Placement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// Sum of weight x score over the Placement's AddOn prioritizers; none if one of the scores is
/// missing, expired (now >= validUntil) or not in -100..100. A Placement without prioritizers ranks
/// all alike. `next` is lowered to the first expiry.
std::optional<Int128> rank_of(const State& state, const std::string& placement,
                              const std::string& cluster, LogTime& next);
/// The scores of the Placement's prioritizers that are out of range, one line each.
std::vector<std::string> scores_out_of_range(const State& state, const std::string& placement,
                                             const std::string& cluster);

/// OCM's bound on a score, either way (AddOnPlacementScore, status.scores[].value).
inline constexpr std::int64_t kScoreMax = 100;

}  // namespace fairlead
