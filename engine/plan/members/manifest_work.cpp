#include "engine/plan/members/manifest_work.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/plan/members/quota_manifests.h"
#include "engine/plan/members/work_proposal.h"

namespace fairlead {

namespace {

bool in_our_work(const Work& work, const LocalQueueId& id) {
  return std::any_of(work.facts.local_queues.begin(), work.facts.local_queues.end(),
                     [&](const WorkLocalQueue& queue) {
                       return queue.namespace_ == id.first && queue.name == id.second;
                     });
}

// Whether the member has such a LocalQueue that is not ours and has another target: it is never
// overwritten.
bool conflicts(const Cluster& cluster, const LocalQueueId& id, const std::string& target) {
  return points_elsewhere(cluster, id, target) && !in_our_work(cluster.member.queue_work, id);
}

// Kueue makes spec.clusterQueue immutable: a LocalQueue with a new target leaves the work first and
// comes back once that is applied.
bool retargets(const Cluster& cluster, const LocalQueueId& id, const std::string& target) {
  const Work& work = cluster.member.queue_work;
  if (!work.present) return false;
  for (const WorkLocalQueue& queue : work.facts.local_queues)
    if (queue.namespace_ == id.first && queue.name == id.second)
      return queue.cluster_queue != target;
  // It is not in the work. Until the agent has applied that, the member may still have it with its
  // former target.
  return work.facts.applied.observed_generation != work.generation;
}

std::optional<WorkContent> queue_content(const State& state, const std::string& cluster_name,
                                         const std::set<std::string>& queues) {
  const Cluster& cluster = state.clusters.at(cluster_name);
  std::set<std::string> namespaces;
  Json manifests = Json::array();
  Json local_queues = Json::array();
  Json configs = Json::array();
  WorkContent content;
  for (const auto& [id, local_queue] : state.queues.local) {
    const std::string& target = local_queue.cluster_queue;
    if (!queues.contains(target) || conflicts(cluster, id, target) ||
        retargets(cluster, id, target))
      continue;
    namespaces.insert(id.first);
    Json manifest =
        object_head(Kind::local_queue, kueue_version(state), id.first, id.second, "", "");
    manifest["spec"] = {{"clusterQueue", target}};
    local_queues.push_back(std::move(manifest));
    // Not forced: where another manager of the member owns a field, the apply fails and the agent
    // reports it.
    configs.push_back(
        applied_by_server_side_apply(Kind::local_queue, id.first, id.second, Force::no));
    content.facts.local_queues.push_back({id.first, id.second, target});
  }
  if (local_queues.empty()) return std::nullopt;
  Json orphans = Json::array();
  for (const std::string& name : namespaces) {
    manifests.push_back(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    configs.push_back(applied_by_server_side_apply(Kind::namespace_, "", name, Force::no));
    orphans.push_back(orphaning_rule("", "namespaces", name));
  }
  for (Json& queue : local_queues) manifests.push_back(std::move(queue));
  content.spec = {{"deleteOption", selectively_orphan(std::move(orphans))},
                  {"workload", {{"manifests", std::move(manifests)}}},
                  {"manifestConfigs", std::move(configs)}};
  return content;
}

// Whether all quota of the queue in its works is zero and applied, and no usage is reported. The
// deletion of a work is the end of it: the agent applies no generation after that.
bool drained(const Cluster& cluster, const std::string& queue) {
  const std::vector<std::string> works = works_with(cluster, queue);
  return std::all_of(works.begin(), works.end(), [&](const std::string& name) {
    const Work& work = cluster.member.quota_works.at(name);
    return (work.applied_and_available() || work.facts.deleting) &&
           unused_at_member(cluster, queue) &&
           std::ranges::all_of(quotas_in(work, queue),
                               [](const WorkQuota& quota) { return quota.nominal == 0; });
  });
}

bool has_flavor(const Cluster& cluster, const std::string& queue, const std::string& flavor) {
  return std::ranges::any_of(works_with(cluster, queue), [&](const std::string& work) {
    return std::ranges::any_of(quotas_in(cluster.member.quota_works.at(work), queue),
                               [&](const WorkQuota& quota) { return quota.flavor == flavor; });
  });
}

}  // namespace

bool unused_at_member(const Cluster& cluster, const std::string& queue) {
  const auto idle = [](const std::vector<FlavorUsage>& usage) {
    return std::all_of(usage.begin(), usage.end(),
                       [](const FlavorUsage& used) { return used.total == 0; });
  };
  const auto watched = cluster.member.queues.find(queue);
  if (watched != cluster.member.queues.end() && !idle(watched->second.usage)) return false;
  return std::ranges::all_of(works_with(cluster, queue), [&](const std::string& work) {
    return std::ranges::all_of(cluster.member.quota_works.at(work).facts.feedback,
                               [&](const WorkFeedback& feedback) {
                                 return feedback.cluster_queue != queue || idle(feedback.usage);
                               });
  });
}

bool has_policies(const State& state) {
  return state.configuration.member_mode == MemberMode::binding_policy;
}

std::set<std::string> queues_at_member(const State& state, const std::string& cluster_name,
                                       HubQuotas& quotas) {
  std::set<std::string> queues;
  const Cluster& cluster = state.clusters.at(cluster_name);
  const Claim* claim = winning_claim(state.claims, cluster_name);
  std::set<std::string_view> named;
  if (claim && claim->terms)
    for (const AssignmentRow& row : claim->terms->rows) named.insert(row.cluster_queue);
  for (const auto& [queue, flavors] : cluster.member.named) {
    if (!state.queues.by_name.contains(queue)) continue;
    bool needed = named.contains(queue) || !drained(cluster, queue);
    if (!needed)
      // The hub may have dispatched up to what it promised: the member keeps the queue until the
      // promise is withdrawn.
      for (const QuotaKey& pair : quotas.owned_pairs(queue))
        needed = needed || quotas.promised(queue, cluster_name, pair) > 0;
    if (needed) queues.insert(queue);
  }
  return queues;
}

std::set<std::string> flavors_at_member(const State& state, const std::string& cluster,
                                        HubQuotas& quotas) {
  const MemberQuotas member(state, cluster, quotas);
  std::set<std::string> flavors;
  for (const std::string& queue : queues_at_member(state, cluster, quotas))
    for (const ResourceGroup& group : member.groups(queue))
      for (const FlavorQuotas& flavor : group.flavors) flavors.insert(flavor.name);
  return flavors;
}

bool points_elsewhere(const Cluster& cluster, const LocalQueueId& id, const std::string& target) {
  const auto there = cluster.member.local_queues.find(id);
  return there != cluster.member.local_queues.end() && there->second.cluster_queue != target;
}

std::vector<std::string> local_queue_conflicts(const State& state, const std::string& cluster_name,
                                               HubQuotas& quotas) {
  std::vector<std::string> found;
  const auto at = state.clusters.find(cluster_name);
  if (at == state.clusters.end() || !has_member(state.configuration, at->second)) return found;
  const std::set<std::string> queues = queues_at_member(state, cluster_name, quotas);
  for (const auto& [id, local_queue] : state.queues.local)
    if (queues.contains(local_queue.cluster_queue) &&
        conflicts(at->second, id, local_queue.cluster_queue))
      found.push_back(id.first + "/" + id.second);
  return found;
}

bool member_is_frozen(const State& state, const std::string& cluster_name) {
  const auto at = state.clusters.find(cluster_name);
  const Claim* claim = winning_claim(state.claims, cluster_name);
  if (at == state.clusters.end() || !claim || !claim->terms) return false;
  const auto& rows = claim->terms->rows;
  // Without the queue or the flavor on the hub, the work's content would lose what the claim still
  // assigns.
  return std::any_of(rows.begin(), rows.end(), [&](const AssignmentRow& row) {
    return !(state.queues.by_name.contains(row.cluster_queue) &&
             state.flavors.by_name.contains(row.flavor)) &&
           has_flavor(at->second, row.cluster_queue, row.flavor);
  });
}

bool member_is_written(const State& state, const std::string& cluster_name) {
  const auto at = state.clusters.find(cluster_name);
  if (at == state.clusters.end() || !has_member(state.configuration, at->second)) return false;
  const Cluster& cluster = at->second;
  if (cluster.presence.detached || cluster.lost() || !cluster.known) return false;
  if (member_is_frozen(state, cluster_name)) return false;
  const Claim* claim = winning_claim(state.claims, cluster_name);
  return !claim || claim->known;  // else the claim waits for the cluster's first value
}

std::vector<PatchIntended> emit_works(const State& state, const std::string& cluster_name,
                                      HubQuotas& quotas) {
  std::vector<PatchIntended> proposals;
  if (!member_is_written(state, cluster_name)) return proposals;
  const Cluster& cluster = state.clusters.at(cluster_name);
  const std::set<std::string> at_member = queues_at_member(state, cluster_name, quotas);
  QuotaContents contents = quota_contents(state, cluster_name, at_member, quotas);
  std::optional<WorkContent> queues;
  // Without content of a quota work the queue work is to go too: LocalQueues stay exactly as long
  // as their queues.
  if (!contents.empty() && !has_policies(state))
    queues = queue_content(state, cluster_name, at_member);
  for (const auto& [name, work] : cluster.member.quota_works)
    // A work that no queue is in any more is to go, too.
    contents.try_emplace(name, std::nullopt);
  static const Work kAbsent;
  for (auto& [name, content] : contents) {
    const auto work = cluster.member.quota_works.find(name);
    propose_work({state, cluster_name, name,
                  work == cluster.member.quota_works.end() ? kAbsent : work->second},
                 std::move(content), proposals);
  }
  // A queue work from before the mode changed stays: removing it would delete the member's
  // LocalQueues.
  if (!has_policies(state))
    propose_work({state, cluster_name, kQueueWork, cluster.member.queue_work}, std::move(queues),
                 proposals);
  return proposals;
}

}  // namespace fairlead
