// The rules that decide writes, as intents name them in the log and in every output.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace fairlead::rule {

inline constexpr std::string_view kClaimsShrink = "claims/shrink";
inline constexpr std::string_view kClaimsGrow = "claims/grow";
inline constexpr std::string_view kClaimsFinalizer = "claims/finalizer";
inline constexpr std::string_view kClaimsRelease = "claims/release";
inline constexpr std::string_view kClaimsCreate = "claims/create";
inline constexpr std::string_view kClaimsNominal = "claims/nominal";
inline constexpr std::string_view kClaimsStatus = "claims/status";
inline constexpr std::string_view kClaimsRestoreStatus = "claims/restore-status";
inline constexpr std::string_view kWorkersShrink = "workers/shrink";
inline constexpr std::string_view kWorkersGrow = "workers/grow";
inline constexpr std::string_view kMembersShrink = "members/shrink";
inline constexpr std::string_view kMembersCreate = "members/create";
inline constexpr std::string_view kMembersUpdate = "members/update";
inline constexpr std::string_view kMembersRemove = "members/remove";
inline constexpr std::string_view kMembersOrphan = "members/orphan";
inline constexpr std::string_view kMembersTouch = "members/touch";

}  // namespace fairlead::rule

namespace fairlead {

/// Whether a write lowers quota. Such a write is sent before others and does not wait for the write
/// interval: until it is stored, Kueue admits workloads against capacity that is gone.
enum class Direction : std::uint8_t { lowers, other };

/// Returns the direction of the writes that `rule` decides. A rule that is not named here (that of
/// a later version, or of the MultiKueue path) lowers no quota.
constexpr Direction direction_of(std::string_view rule) {
  constexpr std::array kLowering{rule::kClaimsShrink, rule::kWorkersShrink, rule::kMembersShrink};
  return std::find(kLowering.begin(), kLowering.end(), rule) == kLowering.end() ? Direction::other
                                                                                : Direction::lowers;
}

}  // namespace fairlead
