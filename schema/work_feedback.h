// What the agent of a member reports of its ClusterQueues: the values that the feedback rules of a
// ManifestWork ask for, and that its status then has, by name.
#pragma once

#include <string_view>

namespace fairlead {

/// Whether Kueue has the queue active: the status of its condition.
inline constexpr std::string_view kActiveFeedback = "active";
/// Why it has not: the reason of that condition.
inline constexpr std::string_view kActiveReasonFeedback = "activeReason";
/// The usage of one pair is the value `usage/FLAVOR/RESOURCE`.
inline constexpr std::string_view kUsageFeedback = "usage/";

}  // namespace fairlead
