// ClusterQueues of a watched member that differ from the work that its agent reports as applied:
// another writer changed or deleted them there.
//
// OCM's agent applies a work again when its spec or its labels change (onUpdateFunc of its
// ManifestWorkController since OCM 1.1; before, at every update), else after four to six minutes.
// An annotation does not reach it. So a label is changed, and nothing else.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// The minimum time between two touches of the work of a member that deviates. Every write of the
/// work counts as a touch.
inline constexpr Duration kTouchInterval = minutes(1);
/// How much later the watch of the member may report a queue than the agent reports it applied.
inline constexpr Duration kMemberSightGrace = seconds(10);

/// A pair whose quota at the member differs from the applied one.
struct MemberDifference {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;  ///< as the queue spells it
  Amount observed = 0;   ///< 0 where the pair or the queue is missing
  Amount applied = 0;    ///< as the work has it; 0 where it has none
};

/// What changed, so that a member's queue is compared with the work.
enum class DeviationSource : std::uint8_t { member, work };

/// Compares one queue of the member with the work. A difference counts at once if the member's
/// queue changed, and after kMemberSightGrace if the work did. While a write of the work is pending
/// no new difference is recorded: the agent may be ahead of what the watch of the work reports.
void recompute_member_queue(StateView<Clusters, const WriteTables, const LogPosition> state,
                            const std::string& member, const std::string& queue,
                            DeviationSource source);
/// Compares all queues of the work.
void recompute_member_queues(StateView<Clusters, const WriteTables, const LogPosition> state,
                             const std::string& member);

/// Returns the first difference that counts now; nullopt if what is watched is as applied.
std::optional<MemberDifference> member_difference(MemberReader state, const Cluster& cluster);
/// Whether a queue differs from the applied work and its grace (kMemberSightGrace) has not ended.
bool awaits_member_observation(MemberReader state, const Cluster& cluster);

/// The touch of a work: a queue of it that deviates, and from when on it may be sent.
struct Touch {
  std::string cluster_queue;
  LogTime due;
};
/// Returns the next touch of one of the member's quota works; nullopt if none of its queues
/// deviates.
std::optional<Touch> touch_due(MemberReader state, const std::string& member,
                               const std::string& work);

/// Returns the first time after State::now at which a quota work of the member may be touched;
/// kForever if none of its queues deviates.
LogTime next_touch(MemberReader state, const std::string& member);

/// Returns the works' quota of one queue as a list of groups; empty if they have none of it.
std::vector<ResourceGroup> groups_in_work(const Cluster& cluster, const std::string& queue);
/// Returns the queues of the works that differ from it at the member, changed or gone. A queue that
/// was never observed there is left out.
std::set<std::string> queues_not_as_applied(const Cluster& cluster);

}  // namespace fairlead
