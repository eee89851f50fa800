#include "engine/fold/claims/grant_reason.h"

namespace fairlead {

std::string_view text_of(GrantReason reason) {
  switch (reason) {
    case GrantReason::in_full: return "";
    case GrantReason::capacity_unknown: return "CapacityUnknown";
    case GrantReason::claim_deleted: return "ClaimDeleted";
    case GrantReason::cluster_already_claimed: return "ClusterAlreadyClaimed";
    case GrantReason::cluster_detached: return "ClusterDetached";
    case GrantReason::ambiguous_resource_alias: return "AmbiguousResourceAlias";
    case GrantReason::flavor_capacity: return "FlavorCapacity";
    case GrantReason::cluster_capacity: return "ClusterCapacity";
    case GrantReason::minimums_above_capacity: return "MinimumsAboveCapacity";
    case GrantReason::queue_not_found: return "QueueNotFound";
    case GrantReason::flavor_not_found: return "FlavorNotFound";
    case GrantReason::flavor_spans_resource_groups: return "FlavorSpansResourceGroups";
    case GrantReason::resource_not_covered: return "ResourceNotCovered";
    case GrantReason::resource_group_limits: return "ResourceGroupLimits";
    case GrantReason::quota_orchestrated: return "QuotaOrchestrated";
  }
  return "";
}

}  // namespace fairlead
