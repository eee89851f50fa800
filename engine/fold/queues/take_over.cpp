#include "engine/fold/queues/take_over.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/members/kept.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/queues/queues.h"

namespace fairlead {

namespace {

// Returns the clusters whose claims name the queue.
std::set<std::string> clusters_of(QueueReader state, const std::string& queue) {
  std::set<std::string> clusters;
  if (const auto claims = state.claims.of_queue.find(queue); claims != state.claims.of_queue.end())
    for (const std::string& name : claims->second)
      clusters.insert(state.claims.by_name.at(name).terms->cluster);
  return clusters;
}

// Returns the watched member's own quota of a pair: no more than what a work of ours that has the
// queue makes of it.
Amount own_quota(const Configuration& configuration, const Cluster& cluster,
                 const MemberPair& pair) {
  const auto queue = cluster.member.queues.find(pair.cluster_queue);
  // A queue whose quota an orchestrator sets, or that is inactive, has no quota of its own to keep.
  if (queue == cluster.member.queues.end() || queue->second.effective ||
      queue->second.active == ConditionStatus::no)
    return 0;
  const ResourceAliases& aliases = configuration.resource_aliases;
  Amount own = amount_in(queue->second.groups, aliases, {pair.flavor, pair.resource}).value_or(0);
  for (const std::string& work : works_with(cluster, pair.cluster_queue)) {
    Amount content = 0;
    for (const WorkQuota& quota :
         quotas_in(cluster.member.quota_works.at(work), pair.cluster_queue))
      if (quota.flavor == pair.flavor &&
          canonical_resource(aliases, quota.resource) == pair.resource)
        content = quota.nominal;
    own = std::min(own, content);
  }
  return own;
}

void keep(NameMap<Cluster>& clusters, const Contribution& part, const std::string& queue) {
  Cluster& cluster = clusters.at(part.cluster);
  const MemberPair pair{queue, part.flavor, part.resource};
  if (part.amount > confirmed_amount(cluster, pair)) cluster.member.taken_over[pair] = part.amount;
}

// Keeps what the member has itself, up to the grant.
void keep_own_quota(QueueRoom state, const std::string& queue, const QuotaKey& pair,
                    const std::string& name) {
  const auto at = state.clusters.find(name);
  const Claim* claim = winning_claim(state.claims, name);
  if (at == state.clusters.end() || !claim || !has_member(state.configuration, at->second)) return;
  const MemberPair of{queue, pair.flavor, pair.resource};
  const Amount own = own_quota(state.configuration, at->second, of);
  if (own <= admitted(at->second, of)) return;
  for (const Grant& grant : claim->grants)
    if (grant.row.cluster_queue == queue && grant.row.flavor == pair.flavor &&
        grant.row.resource == pair.resource)
      keep(state.clusters, {name, pair.flavor, pair.resource, std::min(own, grant.granted)}, queue);
}

void take_over_among(QueueRoom state, const std::string& queue, const QuotaKey& pair, Amount found,
                     const std::set<std::string>& clusters) {
  for (const Contribution& part : parts_kept(state, queue, pair, found, clusters))
    keep(state.clusters, part, queue);
  for (const std::string& cluster : clusters) keep_own_quota(state, queue, pair, cluster);
}

}  // namespace

void take_over(QueueRoom state, const std::string& queue, const QuotaKey& pair, Amount found) {
  const std::set<std::string> clusters = clusters_of(state, queue);
  const MemberPair of{queue, pair.flavor, pair.resource};
  // Decided anew: what was taken over so far must not count as admitted meanwhile.
  std::map<std::string, Amount> before;
  for (const std::string& name : clusters)
    if (const auto at = state.clusters.find(name); at != state.clusters.end()) {
      before[name] = kept_of(at->second, of);
      at->second.member.taken_over.erase(of);
    }
  take_over_among(state, queue, pair, found, clusters);
  for (const auto& [name, amount] : before)
    if (kept_of(state.clusters.at(name), of) != amount) note_quota_change(state.queues, queue);
}

void take_over_for_new_members(QueueRoom state, const std::set<std::string>& clusters) {
  std::map<std::string, std::set<std::string>> fed;  // queue -> clusters
  for (const std::string& name : clusters) {
    const auto at = state.clusters.find(name);
    if (at == state.clusters.end()) continue;
    ClusterMember& member = at->second.member;
    const bool has_one = has_member(state.configuration, at->second);
    if (has_one == member.written) continue;
    member.written = has_one;
    if (!has_one) member.taken_over.clear();
    for (const auto& [queue, flavors] : member.named)
      if (has_one) fed[queue].insert(name);
  }
  for (const auto& [name, of] : fed) {
    const auto queue = state.queues.by_name.find(name);
    if (queue == state.queues.by_name.end() || !queue->second.present) continue;
    for (const auto& [pair, written] : queue->second.written)
      if (const auto is =
              amount_in(queue->second.facts.groups, state.configuration.resource_aliases, pair))
        take_over_among(state, name, pair, std::min(*is, written), of);
    note_quota_change(state.queues, name);
  }
}

}  // namespace fairlead
