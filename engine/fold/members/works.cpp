#include "engine/fold/members/works.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/members/kept.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/queues/dirty_queues.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

constexpr std::string_view kPolicyPrefix = "fairlead-";

using MemberPairs = std::map<MemberPair, Amount>;

MemberPairs pairs_of(const Configuration& configuration, std::span<const WorkQuota> quotas) {
  MemberPairs pairs;
  for (const WorkQuota& quota : quotas)
    pairs[{quota.cluster_queue, quota.flavor,
           canonical_resource(configuration.resource_aliases, quota.resource)}] = quota.nominal;
  return pairs;
}

// Returns what both admit.
MemberPairs least_of(const MemberPairs& a, const MemberPairs& b) {
  MemberPairs least;
  for (const auto& [pair, amount] : a)
    if (const auto other = b.find(pair); other != b.end())
      least[pair] = std::min(amount, other->second);
  return least;
}

MemberPairs confirmed_of(const Cluster& cluster, const std::string& queue) {
  MemberPairs pairs;
  for (auto at = cluster.member.confirmed.lower_bound({queue, "", ""});
       at != cluster.member.confirmed.end() && at->first.cluster_queue == queue; ++at)
    pairs.insert(*at);
  return pairs;
}

void confirm(QueueTables& queues, Cluster& cluster, const std::string& queue,
             const MemberPairs& confirmed) {
  const MemberPairs before = confirmed_of(cluster, queue);
  if (before != confirmed) {
    for (const auto& [pair, amount] : before) cluster.member.confirmed.erase(pair);
    cluster.member.confirmed.insert(confirmed.begin(), confirmed.end());
    requote(queues, queue);
  }
  drop_confirmed(cluster, queue);
}

// Returns what every work that has the queue admits to it. While a queue moves from one work to
// another both are in force.
MemberPairs content_of(const Configuration& configuration, const Cluster& cluster,
                       const std::vector<std::string>& works, const std::string& queue) {
  MemberPairs content;
  bool first = true;
  for (const std::string& name : works) {
    const MemberPairs of =
        pairs_of(configuration, quotas_in(cluster.member.quota_works.at(name), queue));
    content = std::exchange(first, false) ? of : least_of(content, of);
  }
  return content;
}

// Derives what the member is known to admit to the queue. While an agent applies a work, or the
// queue is not active, either content may be in force: only the least of both is known.
void confirm_queue(StateView<const Configuration, QueueTables> state, Cluster& cluster,
                   const std::string& queue) {
  const MemberPairs content =
      content_of(state.configuration, cluster, works_with(cluster, queue), queue);
  confirm(state.queues, cluster, queue,
          is_settled(cluster, queue) ? content : least_of(confirmed_of(cluster, queue), content));
}

std::set<std::string> queues_of(std::span<const WorkQuota> quotas) {
  std::set<std::string> queues;
  for (const WorkQuota& quota : quotas) queues.insert(quota.cluster_queue);
  return queues;
}

// What is reported of a queue's condition Active.
struct Activity {
  ConditionStatus active = ConditionStatus::absent;
  std::string_view reason;
  ConditionStatus synced = ConditionStatus::absent;  // WorkFeedback::synced
};

// Where an agent reports feedback (condition StatusFeedbackSynced) without the queue's condition,
// no Kueue has looked at the queue yet. An agent that reports no feedback is not waited for.
std::optional<std::string> inactive_by(const Activity& reported) {
  switch (reported.active) {
    case ConditionStatus::yes: return std::nullopt;
    case ConditionStatus::absent:
      if (reported.synced != ConditionStatus::yes) return std::nullopt;
      return "its Kueue has not set the condition Active";
    case ConditionStatus::no:
    case ConditionStatus::unknown: break;
  }
  return std::string(reported.reason.empty() ? "no reason is reported" : reported.reason);
}

}  // namespace

std::string quota_work_name(std::size_t number) {
  return std::string(kQuotaWork) + (number == 0 ? "" : "-" + std::to_string(number));
}

std::optional<std::size_t> quota_work_number(std::string_view name) {
  if (!name.starts_with(kQuotaWork)) return std::nullopt;
  if (name == kQuotaWork) return 0;
  std::size_t number = 0;
  const std::string_view rest = name.substr(kQuotaWork.size());
  const auto [end, fault] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
  // Only as quota_work_name() spells it: a number with a leading zero names another object.
  if (fault != std::errc() || end != rest.data() + rest.size() || quota_work_name(number) != name)
    return std::nullopt;
  return number;
}

std::span<const WorkQuota> quotas_in(const Work& work, const std::string& queue) {
  const auto [first, last] =
      std::ranges::equal_range(work.facts.quotas, queue, std::less<>(), &WorkQuota::cluster_queue);
  return {first, last};
}

std::vector<std::string> works_with(const Cluster& cluster, const std::string& queue) {
  std::vector<std::string> names;
  for (const auto& [name, work] : cluster.member.quota_works)
    if (!quotas_in(work, queue).empty()) names.push_back(name);
  std::ranges::sort(names, std::less<>(),
                    [](const std::string& name) { return quota_work_number(name); });
  return names;
}

const Work* work_with(const Cluster& cluster, const std::string& queue) {
  const std::vector<std::string> names = works_with(cluster, queue);
  return names.empty() ? nullptr : &cluster.member.quota_works.at(names.front());
}

std::set<std::string> queues_in_works(const Cluster& cluster) {
  std::set<std::string> queues;
  for (const auto& [name, work] : cluster.member.quota_works)
    queues.merge(queues_of(work.facts.quotas));
  return queues;
}

std::optional<std::string> why_inactive(const Cluster& cluster, const std::string& queue) {
  // What the member's own watch says counts before the work's feedback, which is as old as the
  // agent's last report.
  const auto watched = cluster.member.queues.find(queue);
  if (watched != cluster.member.queues.end() && watched->second.active != ConditionStatus::absent)
    return inactive_by({watched->second.active, watched->second.reason, ConditionStatus::absent});
  for (const std::string& name : works_with(cluster, queue))
    for (const WorkFeedback& feedback : cluster.member.quota_works.at(name).facts.feedback)
      if (feedback.cluster_queue == queue)
        if (auto reason = inactive_by({feedback.active, feedback.reason, feedback.synced}))
          return reason;
  return std::nullopt;
}

bool is_settled(const Cluster& cluster, const std::string& queue) {
  const std::vector<std::string> works = works_with(cluster, queue);
  return !works.empty() && !why_inactive(cluster, queue) &&
         std::all_of(works.begin(), works.end(), [&](const std::string& name) {
           return cluster.member.quota_works.at(name).applied_and_available();
         });
}

std::set<std::string> works_written(MemberReader state, const std::string& cluster) {
  std::set<std::string> names;
  // Works that were written but not observed yet are known by their writes alone.
  const auto& writes = state.writes.by_key;
  for (auto at = writes.lower_bound(WriteKeyView{kHub, Kind::manifest_work, cluster, "", false});
       at != writes.end() && at->first.cluster == kHub &&
       at->first.object.kind == Kind::manifest_work && at->first.object.namespace_ == cluster;
       ++at)
    names.insert(at->first.object.name);
  const auto known = state.clusters.find(cluster);
  if (known == state.clusters.end()) return names;
  for (const auto& [name, work] : known->second.member.quota_works) names.insert(name);
  if (known->second.member.queue_work.present) names.insert(std::string(kQueueWork));
  return names;
}

bool quota_write_pending(MemberReader state, const std::string& cluster) {
  return std::ranges::any_of(works_written(state, cluster), [&](const std::string& name) {
    return quota_work_number(name) &&
           write_pending(state.writes, of_object(kHub, {Kind::manifest_work, cluster, name}));
  });
}

std::string policy_name(const std::string& cluster) { return std::string(kPolicyPrefix) + cluster; }

std::string cluster_of_policy(const std::string& name) {
  return name.starts_with(kPolicyPrefix) ? name.substr(kPolicyPrefix.size()) : "";
}

bool Work::applied_and_available() const {
  const auto holds = [&](const ConditionFacts& condition) {
    return condition.status == ConditionStatus::yes && condition.observed_generation == generation;
  };
  return present && !facts.deleting && holds(facts.applied) && holds(facts.available);
}

bool carries(const ManifestWorkFacts& work, const ManifestWorkFacts& should) {
  const bool known = work.feedback_digest != Digest{} && should.feedback_digest != Digest{};
  return work.spec_digest == should.spec_digest &&
         (!known || work.feedback_digest == should.feedback_digest);
}

Changes observe_work(MemberRoom state, const ObjectObserved& seen, Seq seq) {
  const bool quota = quota_work_number(seen.key.name).has_value();
  if (!quota && seen.key.name != kQueueWork) return {};
  Cluster& cluster = mark_cluster_dirty(state, seen.key.namespace_);
  Work& work = quota ? cluster.member.quota_works[seen.key.name] : cluster.member.queue_work;
  const std::vector<WorkQuota> before = std::move(work.facts.quotas);
  work = {true,
          seen.uid,
          seen.resource_version,
          seen.generation,
          std::get<ManifestWorkFacts>(seen.facts),
          seq};
  if (!quota) return {};
  std::set<std::string> queues = queues_of(before);
  queues.merge(queues_of(work.facts.quotas));
  for (const std::string& queue : queues) confirm_queue(state, cluster, queue);
  if (before != work.facts.quotas) release_gone_flavors(state);
  recompute_member_queues(state, seen.key.namespace_);
  return claims_follow(seen.key.namespace_);
}

Changes forget_work(MemberRoom state, const ObjectKey& key) {
  const auto at = state.clusters.find(key.namespace_);
  if (at == state.clusters.end()) return {};
  mark_cluster_dirty(state, key.namespace_);
  Cluster& cluster = at->second;
  if (key.name == kQueueWork) cluster.member.queue_work = {};
  const auto work = cluster.member.quota_works.find(key.name);
  if (work == cluster.member.quota_works.end()) return {};
  const std::set<std::string> queues = queues_of(work->second.facts.quotas);
  cluster.member.quota_works.erase(work);
  // Without a work nothing is known to be admitted, so the hub promises nothing of the member.
  for (const std::string& queue : queues) confirm_queue(state, cluster, queue);
  recompute_member_queues(state, key.namespace_);
  release_gone_flavors(state);
  return claims_follow(key.namespace_);
}

Changes observe_queue_at_member(StateView<const Configuration, Clusters, QueueTables> state,
                                const std::string& cluster_name, const std::string& queue) {
  Cluster& cluster = state.clusters.at(cluster_name);
  if (!work_with(cluster, queue)) return {};
  confirm_queue(state, cluster, queue);
  return claims_follow(cluster_name);
}

Changes observe_policy(ClusterMarks state, const ObjectObserved& seen, Seq seq) {
  const std::string cluster = cluster_of_policy(seen.key.name);
  if (cluster.empty()) return {};
  mark_cluster_dirty(state, cluster).member.policy = {true,
                                                      seen.uid,
                                                      seen.resource_version,
                                                      seen.generation,
                                                      std::get<BindingPolicyFacts>(seen.facts),
                                                      seq};
  return claims_follow(cluster);
}

Changes forget_policy(ClusterMarks state, const ObjectKey& key) {
  const std::string cluster = cluster_of_policy(key.name);
  if (!state.clusters.contains(cluster)) return {};
  mark_cluster_dirty(state, cluster).member.policy = {};
  return claims_follow(cluster);
}

void expect_work(StateView<const Configuration, Clusters, QueueTables> state,
                 const PatchIntended& intent) {
  if (!quota_work_number(intent.target.name)) return;
  const auto at = state.clusters.find(intent.target.namespace_);
  if (at == state.clusters.end()) return;
  Cluster& cluster = at->second;
  const auto* expected =
      intent.expected ? std::get_if<ManifestWorkFacts>(&*intent.expected) : nullptr;
  Work after;
  if (expected) after.facts.quotas = expected->quotas;
  std::set<std::string> queues = queues_of(after.facts.quotas);
  if (const auto work = cluster.member.quota_works.find(intent.target.name);
      work != cluster.member.quota_works.end())
    queues.merge(queues_of(work->second.facts.quotas));
  for (const std::string& queue : queues) {
    const MemberPairs content = pairs_of(state.configuration, quotas_in(after, queue));
    // A queue that leaves this work while another one has it stays as that one has it.
    if (content.empty() && works_with(cluster, queue).size() > 1) continue;
    confirm(state.queues, cluster, queue, least_of(confirmed_of(cluster, queue), content));
  }
}

}  // namespace fairlead
