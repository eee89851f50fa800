// The rank of a cluster among the workers of a Placement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns the sum of weight x score over the Placement's AddOn prioritizers; nullopt if one of the
/// scores is missing, expired (now >= validUntil) or not in -100..100. A Placement without
/// prioritizers ranks all alike. Lowers `next` to the first expiry.
std::optional<Int128> rank_of(MultiKueueReader state, const std::string& placement,
                              const std::string& cluster, LogTime& next);
/// Returns one line for each score of the Placement's prioritizers that is out of range.
std::vector<std::string> scores_out_of_range(MultiKueueReader state, const std::string& placement,
                                             const std::string& cluster);

/// OCM's bound on a score, either way (AddOnPlacementScore, status.scores[].value).
inline constexpr std::int64_t kScoreMax = 100;

}  // namespace fairlead
