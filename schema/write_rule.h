// The rules that decide writes, as intents name them in the log and in every output.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace fairlead::rule {

inline constexpr char kClaimsShrink[] = "claims/shrink";
inline constexpr char kClaimsGrow[] = "claims/grow";
inline constexpr char kClaimsFinalizer[] = "claims/finalizer";
inline constexpr char kClaimsRelease[] = "claims/release";
inline constexpr char kClaimsCreate[] = "claims/create";
inline constexpr char kClaimsNominal[] = "claims/nominal";
inline constexpr char kClaimsStatus[] = "claims/status";
inline constexpr char kClaimsRestoreStatus[] = "claims/restore-status";
inline constexpr char kWorkersShrink[] = "workers/shrink";
inline constexpr char kWorkersGrow[] = "workers/grow";
inline constexpr char kMembersShrink[] = "members/shrink";
inline constexpr char kMembersCreate[] = "members/create";
inline constexpr char kMembersUpdate[] = "members/update";
inline constexpr char kMembersRemove[] = "members/remove";
inline constexpr char kMembersOrphan[] = "members/orphan";
inline constexpr char kMembersTouch[] = "members/touch";
inline constexpr char kFleetClaimCreate[] = "fleet/create";
inline constexpr char kFleetClaimStatus[] = "fleet/reserve";
inline constexpr char kFleetClaimRemove[] = "fleet/remove";
inline constexpr char kFleetScheduling[] = "fleet/schedule";
inline constexpr char kPoolFirstSight[] = "pool/first-sight";
inline constexpr char kPoolPlace[] = "pool/place";
inline constexpr char kPoolEdit[] = "pool/edit";
inline constexpr char kPoolSlice[] = "pool/slice";
inline constexpr char kPoolMove[] = "pool/move";
inline constexpr char kPoolOverflow[] = "pool/overflow";
inline constexpr char kPoolReduce[] = "pool/reduce";
inline constexpr char kPoolRelease[] = "pool/release";
inline constexpr char kPoolDrained[] = "pool/drained";
inline constexpr char kPoolRestore[] = "pool/restore";
inline constexpr char kPoolReason[] = "pool/reason";
inline constexpr char kPoolPod[] = "pool/pod";

}  // namespace fairlead::rule

namespace fairlead {

/// Whether a write lowers quota. Such a write is sent before others and does not wait for the write
/// interval: until it is stored, Kueue admits workloads against capacity that is gone.
enum class Direction : std::uint8_t { lowers, other };

/// Returns the direction of the writes that `rule` decides. A rule that is not named here (a later
/// version's, or one of the MultiKueue path) lowers no quota.
constexpr Direction direction_of(std::string_view rule) {
  constexpr std::array<std::string_view, 3> kLowering{rule::kClaimsShrink, rule::kWorkersShrink,
                                                      rule::kMembersShrink};
  return std::find(kLowering.begin(), kLowering.end(), rule) == kLowering.end() ? Direction::other
                                                                                : Direction::lowers;
}

}  // namespace fairlead
