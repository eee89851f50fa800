// The rules that decide writes, as intents name them in the log and in every output.
#pragma once

#include <string_view>
#include <utility>

#include "schema/event.h"

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

/// Returns the place in the order of writes that intents of this rule had before they said it
/// themselves (schema version 7). A rule that is not named here lowers no quota. Writes of tenants'
/// namespaces that only gave up slices came before growths; their rules do not say which they are.
std::pair<Direction, Rank> order_of_rule(std::string_view rule, Kind target);

}  // namespace fairlead
