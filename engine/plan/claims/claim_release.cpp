#include "engine/plan/claims/claim_release.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/claims/propagation.h"
#include "engine/plan/emit.h"
#include "engine/plan/members/binding_policy.h"
#include "engine/plan/members/manifest_work.h"

namespace fairlead {

namespace {

using Bar = std::optional<ReleaseBar>;

// A claim that is being deleted, and its cluster, which is not detached.
struct Leaving {
  const State& state;
  const Claim& claim;
  const std::string& cluster_name;
  const Cluster& cluster;
  QueueWishes& wishes;
};

// ---- the hub ----

Bar hub_bar(const Leaving& leaving, const AssignmentRow& row) {
  const State& state = leaving.state;
  const ObjectKey object{Kind::cluster_queue, "", row.cluster_queue};
  const auto waits = [&](const std::string& what) {
    return ReleaseBar{
        "WaitingForHub",
        "ClusterQueue " + row.cluster_queue + what + after_refusal(write_of(state.writes, object)),
        is_soon_written(state, object)};
  };
  // The write under way may carry the claim's quota, whatever is derived now.
  if (write_pending(state.writes, of_object(kHub, object)))
    return waits(": its last write is not answered, or not seen yet");
  const QuotaKey pair{row.flavor, row.resource};
  // With another claim in force the share is that claim's, and stays.
  if (leaving.wishes.quotas().promised(row.cluster_queue, leaving.cluster_name, pair) > 0 &&
      !winning_claim(state.claims, leaving.cluster_name))
    return waits(" still has quota of " + leaving.cluster_name + " in " + row.flavor + " " +
                 row.spelled);
  const QueueWish& wish = leaving.wishes.of(row.cluster_queue);
  if (wish.emitted && wish.differs && wish.direction == Direction::lowers)
    return waits(" is not lowered yet");
  return std::nullopt;
}

// ---- the member ----

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Returns the queues of the work that a watched member still has.
std::string queues_there(const Cluster& cluster) {
  std::set<std::string> there;
  for (const std::string& queue : queues_in_works(cluster))
    if (cluster.member.queues.contains(queue)) there.insert(queue);
  return listed({there.begin(), there.end()});
}

ReleaseBar deleting_bar(const Leaving& leaving, const Work& work, const std::string& text) {
  std::string message = text + " is being deleted";
  if (!work.facts.finalizers.empty())
    message += " and waits for its finalizers: " + listed(work.facts.finalizers);
  if (const std::string queues = queues_there(leaving.cluster); !queues.empty())
    message += "; the member still has ClusterQueue " + queues;
  return {"WaitingForWork", std::move(message)};
}

std::string queues_in_use(const Leaving& leaving) {
  std::set<std::string> used;
  for (const std::string& queue : queues_in_works(leaving.cluster))
    if (!unused_at_member(leaving.cluster, queue)) used.insert(queue);
  return listed({used.begin(), used.end()});
}

Bar work_bar(const Leaving& leaving, std::string_view name, const Work& work) {
  const State& state = leaving.state;
  if (!work.present) return std::nullopt;
  const ObjectKey object{Kind::manifest_work, leaving.cluster_name, std::string(name)};
  const std::string text = "ManifestWork " + leaving.cluster_name + "/" + std::string(name);
  if (work.facts.deleting) return deleting_bar(leaving, work, text);
  if (!member_is_written(state, leaving.cluster_name))
    return ReleaseBar{"WaitingForMember",
                      text + " stays as it is while " + leaving.cluster_name +
                          " is lost, or its capacity, a ClusterQueue or a ResourceFlavor unknown"};
  const WriteState* write = write_of(state.writes, object);
  const bool soon = is_soon_written(state, object);
  // Until the agent has applied the work, the agent is the obstacle, whatever usage it reports.
  if (work.applied_and_available())
    if (const std::string used = queues_in_use(leaving); !used.empty())
      return ReleaseBar{"QuotaInUse",
                        "workloads run at the member on ClusterQueue " + used +
                            ", which keeps its LocalQueues until they end",
                        soon};
  return ReleaseBar{
      "WaitingForMember",
      text +
          (work.applied_and_available() ? " is not deleted yet"
                                        : " is not reported as applied and available by its "
                                          "agent: its quota has to go to 0 first") +
          after_refusal(write),
      soon};
}

}  // namespace

// In the order in which quota is taken back: the hub first, so that it dispatches nothing to a
// member that admits nothing any more; then the member's quota, its LocalQueues, and what brought
// them their flavors. A claim that another one of its cluster follows leaves only the hub's shares
// to take back.
std::optional<ReleaseBar> release_bar(const State& state, const Claim& claim, QueueWishes& wishes) {
  // Its spec was never valid, so nothing was ever written for it.
  if (!claim.terms) return std::nullopt;
  const std::string& cluster_name = claim.terms->cluster;
  const auto at = state.clusters.find(cluster_name);
  if (at == state.clusters.end() || at->second.presence.detached) return std::nullopt;
  const Leaving leaving{state, claim, cluster_name, at->second, wishes};
  for (const AssignmentRow& row : claim.terms->rows)
    if (Bar bar = hub_bar(leaving, row)) return bar;
  if (!has_member(state.configuration, at->second) || winning_claim(state.claims, cluster_name))
    return std::nullopt;
  for (const auto& [name, work] : at->second.member.quota_works)
    if (Bar bar = work_bar(leaving, name, work)) return bar;
  if (Bar bar = work_bar(leaving, kQueueWork, at->second.member.queue_work)) return bar;
  if (!policy_is_due(state, cluster_name, wishes.quotas())) return std::nullopt;
  const ObjectKey policy{Kind::binding_policy, "", policy_name(cluster_name)};
  return ReleaseBar{"WaitingForPolicy",
                    "BindingPolicy " + policy.name + " still selects what the claim asked for" +
                        after_refusal(write_of(state.writes, policy)),
                    is_soon_written(state, policy)};
}

std::optional<ReleaseBar> finalizer_bar(const State& state, const std::string& name,
                                        const Claim& claim, QueueWishes& wishes) {
  if (Bar bar = release_bar(state, claim, wishes)) return bar;
  const Refusal* refusal = refusal_of(state.writes, {Kind::claim, "", name});
  if (!refusal) return std::nullopt;
  return ReleaseBar{
      std::string(refusal_reason(*refusal)),
      "finalizer " + std::string(kClaimFinalizer) + " cannot be removed: " + answer_text(*refusal)};
}

}  // namespace fairlead
