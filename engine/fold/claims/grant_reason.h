// Why a grant is not, or not in full, what its assignment asks for.
#pragma once

#include <cstdint>
#include <string_view>

namespace fairlead {

/// Up to `minimums_above_capacity` the fold derives them from the claim and its cluster; the others
/// the plan finds, when it places the pair in its ClusterQueue.
enum class GrantReason : std::uint8_t {
  in_full,
  capacity_unknown,          ///< no value of the cluster is accepted yet
  claim_deleted,             ///< the claim is being deleted
  cluster_already_claimed,   ///< an older claim has the cluster
  cluster_detached,          ///< the cluster left
  ambiguous_resource_alias,  ///< the queue covers a resource by two names
  flavor_capacity,           ///< what is accepted of the flavor bounds it
  cluster_capacity,          ///< what is accepted of the resource in all flavors bounds it
  minimums_above_capacity,   ///< the minimums alone exceed what is accepted
  queue_not_found,
  flavor_not_found,
  flavor_spans_resource_groups,  ///< the pair's flavor and its resource are in different groups
  resource_not_covered,          ///< no group covers the resource, and none may be added
  resource_group_limits,         ///< Kueue's bounds on groups, flavors and resources
  quota_orchestrated,            ///< Kueue's orchestrator sets the quota of the queue
};

/// Returns the reason in CamelCase, as the claim's status has it; empty for `in_full`.
std::string_view text_of(GrantReason reason);

}  // namespace fairlead
