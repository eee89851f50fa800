#include "engine/fold/members/member_deviation.h"

#include <algorithm>
#include <functional>
#include <span>

#include "engine/fold/cluster_state.h"
#include "engine/fold/members/works.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

using Pairs = std::map<std::pair<std::string, std::string>, Amount>;  // (flavor, resource)

// Available is not required: where a queue was deleted at the member, the agent reports it as not
// available.
bool is_applied(const Work& work) {
  const ConditionFacts& applied = work.facts.applied;
  return work.present && !work.facts.deleting && applied.status == ConditionStatus::yes &&
         applied.observed_generation == work.generation;
}

// Of the first of the queue's works: while the queue moves to another both admit the same.
Pairs pairs_of_work(const Cluster& cluster, const std::string& queue) {
  Pairs pairs;
  const Work* work = work_with(cluster, queue);
  if (!work) return pairs;
  for (const WorkQuota& quota : quotas_in(*work, queue))
    if (quota.nominal != 0) pairs[{quota.flavor, quota.resource}] = quota.nominal;
  return pairs;
}

// Without zeros: a pair that is missing admits as much as one of 0.
Pairs pairs_at_member(const Cluster& cluster, const std::string& queue) {
  Pairs pairs;
  const auto at = cluster.member.queues.find(queue);
  if (at == cluster.member.queues.end()) return pairs;
  for (const ResourceGroup& group : at->second.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        if (const Amount amount = to_amount(quota.name, quota.nominal); amount != 0)
          pairs[{flavor.name, quota.name}] = amount;
  return pairs;
}

Amount amount_of(const Pairs& pairs, const Pairs::key_type& pair) {
  const auto at = pairs.find(pair);
  return at == pairs.end() ? 0 : at->second;
}

MemberDifference difference_at(const Cluster& cluster, const std::string& queue) {
  const Pairs applied = pairs_of_work(cluster, queue);
  const Pairs observed = pairs_at_member(cluster, queue);
  Pairs all = applied;
  all.insert(observed.begin(), observed.end());
  for (const auto& [pair, amount] : all)
    if (amount_of(applied, pair) != amount_of(observed, pair))
      return {queue, pair.first, pair.second, amount_of(observed, pair), amount_of(applied, pair)};
  return {};
}

bool is_as_in_work(const Cluster& cluster, const std::string& queue) {
  return pairs_of_work(cluster, queue) == pairs_at_member(cluster, queue);
}

}  // namespace

void recompute_member_queue(StateView<Clusters, const WriteTables, const LogPosition> state,
                            const std::string& member, const std::string& queue,
                            DeviationSource source) {
  Cluster& cluster = state.clusters.at(member);
  const std::vector<std::string> works = works_with(cluster, queue);
  // While an agent applies another generation nothing can be said: the next report of the work
  // compares its queues again.
  const auto applied = [&](const std::string& name) {
    return is_applied(cluster.member.quota_works.at(name));
  };
  if (works.empty() || !std::ranges::all_of(works, applied) || is_as_in_work(cluster, queue)) {
    cluster.member.deviating.erase(queue);
    return;
  }
  // A queue that was never observed there may not be watched.
  const bool by_work = source == DeviationSource::work;
  if (quota_write_pending(state, member) || (by_work && !cluster.member.queues.contains(queue)))
    return;
  // A difference that is known keeps its time.
  cluster.member.deviating.try_emplace(queue,
                                       state.now + (by_work ? kMemberSightGrace : Duration{}));
}

void recompute_member_queues(StateView<Clusters, const WriteTables, const LogPosition> state,
                             const std::string& member) {
  const Cluster& cluster = state.clusters.at(member);
  std::set<std::string> queues = queues_in_works(cluster);
  for (const auto& [queue, since] : cluster.member.deviating) queues.insert(queue);
  for (const std::string& queue : queues)
    recompute_member_queue(state, member, queue, DeviationSource::work);
}

std::optional<MemberDifference> member_difference(MemberReader state, const Cluster& cluster) {
  for (const auto& [queue, since] : cluster.member.deviating)
    if (since <= state.now) return difference_at(cluster, queue);
  return std::nullopt;
}

bool awaits_member_observation(MemberReader state, const Cluster& cluster) {
  return std::any_of(cluster.member.deviating.begin(), cluster.member.deviating.end(),
                     [&](const auto& queue) { return queue.second > state.now; });
}

std::optional<Touch> touch_due(MemberReader state, const std::string& member,
                               const std::string& work) {
  const Cluster& cluster = state.clusters.at(member);
  std::optional<LogTime> first;
  const std::string* which = nullptr;
  for (const auto& [queue, since] : cluster.member.deviating) {
    const std::vector<std::string> works = works_with(cluster, queue);
    if (std::ranges::find(works, work) == works.end() || (first && *first <= since)) continue;
    first = since;
    which = &queue;
  }
  if (!first) return std::nullopt;
  LogTime due = *first;
  const ObjectKey object{Kind::manifest_work, member, work};
  if (const WriteState* write = write_of(state.writes, object); write && write->last_write)
    due = std::max(due, *write->last_write + kTouchInterval);
  return Touch{*which, due};
}

LogTime next_touch(MemberReader state, const std::string& member) {
  LogTime next = kForever;
  const auto at = state.clusters.find(member);
  if (at == state.clusters.end()) return next;
  for (const auto& [work, record] : at->second.member.quota_works)
    if (const auto touch = touch_due(state, member, work); touch && touch->due > state.now)
      next = std::min(next, touch->due);
  return next;
}

std::vector<ResourceGroup> groups_in_work(const Cluster& cluster, const std::string& queue) {
  const Work* work = work_with(cluster, queue);
  if (!work) return {};
  std::map<std::string, std::vector<ResourceQuota>> flavors;
  std::set<std::string> covered;
  for (const WorkQuota& quota : quotas_in(*work, queue)) {
    covered.insert(quota.resource);
    flavors[quota.flavor].push_back(
        {quota.resource, to_quantity(quota.resource, quota.nominal), std::nullopt, std::nullopt});
  }
  if (flavors.empty()) return {};
  ResourceGroup group{{covered.begin(), covered.end()}, {}};
  for (auto& [name, quotas] : flavors) group.flavors.push_back({name, std::move(quotas)});
  return {std::move(group)};
}

std::set<std::string> queues_not_as_applied(const Cluster& cluster) {
  std::set<std::string> queues;
  for (const std::string& queue : queues_in_works(cluster))
    if ((cluster.member.queues.contains(queue) || cluster.member.deviating.contains(queue)) &&
        !is_as_in_work(cluster, queue))
      queues.insert(queue);
  return queues;
}

}  // namespace fairlead
