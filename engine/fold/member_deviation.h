// ClusterQueues of a watched member that are not as the work has them which its agent reports as
// applied: changed or deleted there by hand.
//
// OCM's agent applies a work again when its spec or its labels change (onUpdateFunc of its
// ManifestWorkController since OCM 1.1; before, at every update), else after four to six minutes.
// An annotation does not reach it. So a label is changed, and nothing else.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// The work of a member that deviates is touched no more often; a write of it counts as a touch.
inline constexpr Duration kTouchInterval = minutes(1);
/// The watch of the member may be that much later than the agent's word that it has applied.
inline constexpr Duration kMemberSightGrace = seconds(10);

/// A pair that is not at the member as it was applied.
struct MemberDifference {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;  ///< as the queue spells it
  Amount observed = 0;   ///< 0 where the pair or the queue is missing
  Amount applied = 0;    ///< as the work has it; 0 where it has none
};

/// What changed, so that a queue of the member is compared with the work.
enum class DeviationSource : std::uint8_t { member, work };

/// Compares one queue of the member with the work. A difference counts at once if the member's
/// queue changed, and after kMemberSightGrace if the work did. While the work is being written no
/// new difference is found: its agent may be ahead of what the watch of the work has shown.
void judge_member_queue(State& state, const std::string& member, const std::string& queue,
                        DeviationSource source);
/// Compares all queues of the work.
void judge_member_queues(State& state, const std::string& member);

/// The first difference that counts now; nullopt: what is watched is as it was applied.
std::optional<MemberDifference> member_difference(const State& state, const Cluster& cluster);
/// A queue that was not seen since its work was applied is not as applied yet, and is waited for.
bool awaits_member_sight(const State& state, const Cluster& cluster);

/// When the work of a member that deviates may be touched; nullopt if there is no need.
std::optional<LogTime> touch_due_at(const State& state, const std::string& member);

/// The work's quota of one queue as a list of groups; empty if it has none of it.
std::vector<ResourceGroup> groups_in_work(const Work& work, const std::string& queue);
/// Queues of the work that were seen at the member, there or gone, and are not as the work has
/// them.
std::set<std::string> queues_not_as_applied(const Cluster& cluster);

}  // namespace fairlead
