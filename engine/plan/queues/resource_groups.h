// The resourceGroups list of a ClusterQueue, overlaid with our pairs within Kueue's limits.
//
// The list is atomic for server-side apply, so it is read, overlaid and written whole. Everything
// that is not ours stays: order, limits, foreign pairs. Source of the limits: Kueue's ClusterQueue
// CRD and webhook (v0.19.2).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/fold/claims/grant_reason.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/state_view.h"

namespace fairlead {

/// A list that has a place for the wanted pairs, and the pairs that have none.
struct Shape {
  std::vector<ResourceGroup> groups;  ///< new pairs have quota 0
  std::map<QuotaKey, GrantReason> withheld;
};

/// Whether a pair that has no place in the list gets one. An assigned pair does, also at 0: Kueue
/// lets it borrow in the cohort only if it has a place.
enum class Place : std::uint8_t { made, if_there };

/// Makes places in the queue's list for the pairs of `wanted`. Appends new flavors to the group
/// that covers their resources, in bytewise order.
Shape shape_groups(StateView<const Configuration, const FlavorTables, const QueueTables> state,
                   const std::string& queue, const std::map<QuotaKey, Place>& wanted);

/// Returns the list as JSON, every Quantity canonical.
Json groups_json(const std::vector<ResourceGroup>& groups);
/// Returns the list as JSON for the queue that it was read from: a Quantity that was not changed
/// keeps its text.
Json groups_as_written(const std::vector<ResourceGroup>& groups);

inline constexpr std::size_t kResourceGroupsMax = 16;
inline constexpr std::size_t kGroupFlavorsMax = 64;
inline constexpr std::size_t kGroupResourcesMax = 64;
inline constexpr std::size_t kQueueFlavorsMax = 256;
inline constexpr std::size_t kQueueResourcesMax = 256;
inline constexpr std::size_t kGroupPairsMax = 512;

}  // namespace fairlead
