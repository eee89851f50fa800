#include "engine/plan/claims/propagation.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/claims/claim_status.h"
#include "engine/plan/emit.h"
#include "engine/plan/members/binding_policy.h"
#include "engine/plan/members/manifest_work.h"

namespace fairlead {

namespace {

using Verdict = std::optional<Propagation>;

Propagation failed(std::string reason, std::string message) {
  return {"False", std::move(reason), std::move(message)};
}

// A write of `object` was refused.
Propagation write_refused(const std::string& object, const Refusal& refusal) {
  return failed(std::string(refusal_reason(refusal)), object + ": " + answer_text(refusal));
}

// One claim and its cluster: what every check reads.
struct Judged {
  const State& state;
  const Claim& claim;
  const std::string& cluster_name;
  const Cluster* cluster;  // null: no source has reported it
  QueueWishes& wishes;

  bool has_member() const { return cluster && fairlead::has_member(state.configuration, *cluster); }
};

// ---- the hub ----

// A row whose pair on the hub differs from what the claim is granted.
struct HubLag {
  const Grant* grant = nullptr;
  std::optional<Amount> current;
  Amount should = 0;
};

// Whether Fairlead sets the pair on the hub and this claim has a part in it.
bool is_promised(const Judged& judged, const Grant& grant) {
  const std::string& queue = grant.row.cluster_queue;
  const QueueWish& wish = judged.wishes.of(queue);
  if (!wish.emitted) return false;
  if (!claim_counts(followed(judged.state.queues, queue), judged.cluster_name)) return false;
  const auto kept = wish.kept.find({grant.row.flavor, grant.row.resource});
  // A contested pair is promised and not kept: that is said with its values.
  return kept == wish.kept.end() || kept->second == PairBar::contested;
}

// Returns the hub's present quota of the pair: what our accepted write left until the watch reports
// it, else what was observed.
std::optional<Amount> nominal_on_hub(const State& state, const std::string& name,
                                     const Queue& queue, const QuotaKey& pair) {
  const WriteState* write = write_of(state.writes, {Kind::cluster_queue, "", name});
  if (write && !write->outstanding && write->awaits())
    if (const auto written = queue.written.find(pair); written != queue.written.end())
      return written->second;
  return amount_in(queue.facts.groups, state.configuration.resource_aliases, pair);
}

// Returns the lag of a row; nullopt if the claim's part is in the hub's present quota. It is if the
// quota is what would be written now, or what the last write wrote, with this part in it: other
// claims' parts do not matter.
std::optional<HubLag> lag_of(const Judged& judged, const Grant& grant) {
  const std::string& name = grant.row.cluster_queue;
  const QuotaKey pair{grant.row.flavor, grant.row.resource};
  const HubQuota& quota = judged.wishes.quotas().of(name, pair);
  // is_promised() has found it: only a queue that is present is emitted.
  const Queue& queue = judged.state.queues.by_name.at(name);
  const auto current = nominal_on_hub(judged.state, name, queue, pair);
  if (current == quota.nominal &&
      part_of(quota.contributions, judged.cluster_name, pair) == grant.granted)
    return std::nullopt;
  const auto written = queue.written.find(pair);
  if (written != queue.written.end() && current == written->second &&
      part_of(queue.contributed, judged.cluster_name, pair) == grant.granted)
    return std::nullopt;
  return HubLag{&grant, current, quota.nominal};
}

std::optional<HubLag> hub_lag(const Judged& judged, const std::string* queue = nullptr) {
  if (!judged.claim.winner) return std::nullopt;
  for (const Grant& grant : judged.claim.grants) {
    if ((queue && grant.row.cluster_queue != *queue) || !is_promised(judged, grant)) continue;
    if (auto lag = lag_of(judged, grant)) return lag;
  }
  return std::nullopt;
}

Verdict hub_rejected(const Judged& judged) {
  for (const std::string* named : queues_granted(judged.claim)) {
    const std::string& queue = *named;
    if (const Refusal* refusal = refusal_of(judged.state.writes, {Kind::cluster_queue, "", queue});
        refusal && hub_lag(judged, &queue))
      return write_refused("ClusterQueue " + queue, *refusal);
    const auto seen = judged.state.queues.by_name.find(queue);
    if (seen != judged.state.queues.by_name.end() && !seen->second.base.malformed.empty())
      return failed("BaseQuotaMalformed",
                    "ClusterQueue " + queue + ": " + seen->second.base.malformed);
  }
  return std::nullopt;
}

Verdict waits_for_hub(const Judged& judged) {
  const auto lag = hub_lag(judged);
  if (!lag) return std::nullopt;
  const AssignmentRow& row = lag->grant->row;
  std::string message = "ClusterQueue " + row.cluster_queue + " " + row.flavor + " " + row.spelled +
                        (lag->current ? " is " + amount_text(row.resource, *lag->current)
                                      : std::string(" is missing")) +
                        " instead of " + amount_text(row.resource, lag->should);
  if (is_contested(judged.state.queues, row.cluster_queue, {row.flavor, row.resource}))
    return failed("OwnershipConflict", message + ", as another writer keeps changing it");
  const ObjectKey object{Kind::cluster_queue, "", row.cluster_queue};
  const WriteState* write = write_of(judged.state.writes, object);
  message += after_refusal(write);
  if (write && write->outstanding && !write->refusal)
    message += "; write " + std::to_string(write->outstanding->seq.value) + " has no answer";
  Propagation waits = failed("WaitingForHub", std::move(message));
  waits.soon_over = is_soon_written(judged.state, object);
  return waits;
}

// ---- the member ----

// The log keeps only the reason of the agent's condition.
std::string reported(const ConditionFacts& condition) {
  return condition.reason + "; its status.resourceStatus has what the agent says of each object";
}

Verdict work_rejected(const std::string& text, const Work& work) {
  if (!work.present) return std::nullopt;
  // A condition of an older generation is about content that was replaced.
  const auto refused = [&](const ConditionFacts& condition) {
    return condition.status == ConditionStatus::no &&
           condition.observed_generation == work.generation;
  };
  if (refused(work.facts.applied))
    return failed("MemberRejected",
                  text + " could not be applied: " + reported(work.facts.applied));
  if (refused(work.facts.available))
    return failed("MemberRejected",
                  text + " is not available at the member: " + reported(work.facts.available));
  return std::nullopt;
}

Verdict some_work_rejected(const Judged& judged) {
  const ClusterMember& member = judged.cluster->member;
  for (const std::string& name : works_written(judged.state, judged.cluster_name)) {
    const std::string text = "ManifestWork " + name;
    const ObjectKey object{Kind::manifest_work, judged.cluster_name, name};
    if (const Refusal* refusal = refusal_of(judged.state.writes, object))
      return write_refused(text, *refusal);
    const auto of_quota = member.quota_works.find(name);
    if (name != kQueueWork && of_quota == member.quota_works.end()) continue;
    if (auto verdict =
            work_rejected(text, name == kQueueWork ? member.queue_work : of_quota->second))
      return verdict;
  }
  return std::nullopt;
}

// A queue that its Kueue calls inactive admits nothing, whatever quota it has.
Verdict queue_inactive(const Judged& judged) {
  if (!judged.claim.winner) return std::nullopt;
  for (const std::string* queue : queues_granted(judged.claim)) {
    const auto why = why_inactive(*judged.cluster, *queue);
    if (!why || !work_with(*judged.cluster, *queue)) continue;
    return failed("MemberQueueInactive", "ClusterQueue " + *queue + " of " + judged.cluster_name +
                                             " is not active: " + *why +
                                             "; the hub does not grow before it is");
  }
  return std::nullopt;
}

Verdict member_left_alone(const Judged& judged) {
  if (const auto trouble = policy_trouble(judged.state, judged.cluster_name))
    return failed(trouble->reason, trouble->message);
  const auto conflicts =
      local_queue_conflicts(judged.state, judged.cluster_name, judged.wishes.quotas());
  if (!conflicts.empty())
    return failed("LocalQueueConflict",
                  "LocalQueue " + conflicts.front() + " at the member points elsewhere");
  if (member_is_frozen(judged.state, judged.cluster_name))
    return failed("MemberFrozen",
                  "the member has quota of a ClusterQueue or ResourceFlavor that the claim names "
                  "and the hub has not shown; it is left as it is until the hub shows that");
  return std::nullopt;
}

// Until the watch reports our write, a work observed as applied is the one before it. A work that
// is being deleted is left out: its finalizers may take long.
bool work_is_being_changed(const Judged& judged) {
  return std::ranges::any_of(
      works_written(judged.state, judged.cluster_name), [&](const std::string& name) {
        const ObjectKey work{Kind::manifest_work, judged.cluster_name, name};
        // If a write is pending, write_of() finds it.
        return name != kQueueWork && write_pending(judged.state.writes, of_object(kHub, work)) &&
               !write_of(judged.state.writes, work)->awaits_end;
      });
}

// Whether the member has not confirmed all that is granted and emitted.
bool waits_for_member(const Judged& judged) {
  if (std::ranges::any_of(judged.cluster->member.quota_works,
                          [](const auto& work) { return !work.second.applied_and_available(); }))
    return true;
  const auto& grants = judged.claim.grants;
  return std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
    if (grant.granted == 0) return false;
    const auto confirmed = judged.cluster->member.confirmed.find(
        {grant.row.cluster_queue, grant.row.flavor, grant.row.resource});
    if (confirmed != judged.cluster->member.confirmed.end() && confirmed->second >= grant.granted)
      return false;
    // A row that another reason than the grant's own keeps from the hub is kept from the member
    // too.
    return grant_reason(judged.state, judged.claim, grant, judged.wishes) == grant.reason;
  });
}

Verdict member_differs(const Judged& judged) {
  const auto found = member_difference(judged.state, *judged.cluster);
  if (!found) return std::nullopt;
  const std::string& resource = found->resource;
  return failed("MemberDiffers", "ClusterQueue " + found->cluster_queue + " of " +
                                     judged.cluster_name + ": " + found->flavor + " " + resource +
                                     ": " + amount_text(resource, found->observed) +
                                     " instead of " + amount_text(resource, found->applied) +
                                     "; its agent is asked to apply the work again");
}

Verdict member_verdict(const Judged& judged) {
  if (!judged.has_member()) return std::nullopt;
  if (auto differs = member_differs(judged)) return differs;
  if (auto rejected = some_work_rejected(judged)) return rejected;
  if (auto alone = member_left_alone(judged)) return alone;
  if (awaits_space(judged.state, judged.cluster_name))
    return failed("WaitingForSpace", "KubeStellar has not processed BindingPolicy " +
                                         policy_name(judged.cluster_name) + " yet");
  if (auto inactive = queue_inactive(judged)) return inactive;
  if (waits_for_member(judged))
    return failed("WaitingForMember", "the member has not applied its quota yet");
  if (work_is_being_changed(judged)) {
    Propagation waits = failed("WaitingForMember", "the member's work is being written");
    waits.soon_over = true;
    return waits;
  }
  if (awaits_member_observation(judged.state, *judged.cluster)) {
    Propagation waits = failed("WaitingForMember", "the member has not shown its quota yet");
    waits.soon_over = true;
    return waits;
  }
  return std::nullopt;
}

// A cluster that is or was lost counts 0 on the hub (Cluster::counted_again_at), whatever its claim
// is granted.
Verdict hub_closed(const Judged& judged) {
  const auto& grants = judged.claim.grants;
  const bool granted = std::any_of(grants.begin(), grants.end(),
                                   [](const Grant& grant) { return grant.granted > 0; });
  if (!judged.cluster || !judged.cluster->counted_again_at || !judged.claim.winner || !granted)
    return std::nullopt;
  if (judged.cluster->lost())
    return failed("ClusterLost", judged.cluster_name +
                                     " is lost: it counts 0 on the hub, its member keeps what "
                                     "it has");
  return failed("ClusterReturns",
                judged.cluster_name + " was lost: it counts 0 on the hub until growWindow is over");
}

}  // namespace

std::string answer_text(const Refusal& refusal) {
  return std::to_string(refusal.http_code) + ": " + refusal.reason;
}

std::string after_refusal(const WriteState* write) {
  return write && write->refusal
             ? "; the last write was answered with " + answer_text(*write->refusal)
             : std::string();
}

Propagation propagation_of(const State& state, const Claim& claim, QueueWishes& wishes) {
  if (!claim.known)
    return {"Unknown", "CapacityUnknown", "nothing is written before capacity is known"};
  const std::string& name = claim.terms ? claim.terms->cluster : claim.facts.spec.cluster_name;
  const auto at = state.clusters.find(name);
  const Judged judged{state, claim, name, at == state.clusters.end() ? nullptr : &at->second,
                      wishes};
  if (auto verdict = hub_rejected(judged)) return *verdict;
  if (auto verdict = member_verdict(judged)) return *verdict;
  if (auto verdict = hub_closed(judged)) return *verdict;
  if (auto verdict = waits_for_hub(judged)) return *verdict;
  return {"True", "Propagated",
          judged.has_member() ? "hub and member have the quota" : "the hub has the quota"};
}

}  // namespace fairlead
