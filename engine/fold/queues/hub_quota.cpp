// Derives the hub quota of a pair at a moment: see queues.h.
#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/members/kept.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/queues/worker_quota.h"

namespace fairlead {

namespace {

MemberPair member_pair(const Grant& grant) {
  return {grant.row.cluster_queue, grant.row.flavor, grant.row.resource};
}

// Returns what a claim's grant adds on the hub now: no more than its member is known to admit, so
// that the hub dispatches nothing that would wait there, but for what was taken over.
Amount contribution_of(QueueReader state, const Claim& claim, const Grant& grant) {
  const auto at = state.clusters.find(claim.terms->cluster);
  if (at == state.clusters.end()) return grant.granted;
  const Cluster& cluster = at->second;
  if (cluster.counted_again_at) return 0;
  if (!claim.known || !has_member(state.configuration, cluster)) return grant.granted;
  return std::min(grant.granted, admitted(cluster, member_pair(grant)));
}

// Returns the part of `amount` on which the quota may grow. While the queue's work is not applied
// that is at most the part in our last write: the member may not admit again what it admitted
// before.
Amount held_part(QueueReader state, const Claim& claim, const Grant& grant, Amount amount) {
  const auto at = state.clusters.find(claim.terms->cluster);
  if (at == state.clusters.end() || is_settled(at->second, grant.row.cluster_queue) ||
      !claim.known || !has_member(state.configuration, at->second))
    return amount;
  const auto queue = state.queues.by_name.find(grant.row.cluster_queue);
  if (queue == state.queues.by_name.end()) return amount;
  const QuotaKey pair{grant.row.flavor, grant.row.resource};
  return std::min(amount, std::max(part_of(queue->second.contributed, claim.terms->cluster, pair),
                                   kept_of(at->second, member_pair(grant))));
}

// What claims and workers add to a pair.
struct QuotaSums {
  Int128 now = 0;
  Int128 held = 0;  // without the growth that members may not admit
  Int128 full = 0;  // once every member has confirmed its grant
  bool any = false, any_known = false;
  std::map<std::string, Amount> holds;  // clusters whose part is held, and at what
};

void add_claims(QueueReader state, const std::string& queue, const QuotaKey& pair,
                const WorkerQuota* workers, Parts parts, HubQuota& quota, QuotaSums& sums) {
  const auto claims = state.claims.of_queue.find(queue);
  if (claims == state.claims.of_queue.end()) return;
  if (parts == Parts::listed) quota.contributions.reserve(claims->second.size());
  for (const std::string& name : claims->second) {
    const Claim& claim = state.claims.by_name.at(name);
    if (!claim_counts(workers, claim.terms->cluster)) continue;
    for (const Grant& grant : claim.grants) {
      if (grant.row.cluster_queue != queue || grant.row.flavor != pair.flavor ||
          grant.row.resource != pair.resource)
        continue;
      sums.any = true;
      sums.any_known = sums.any_known || claim.known;
      quota.assigned = quota.assigned || (claim.winner && claim.known);
      const Amount amount = contribution_of(state, claim, grant);
      if (claim.winner && parts == Parts::listed)
        quota.contributions.push_back({claim.terms->cluster, pair.flavor, pair.resource, amount});
      const Amount held = held_part(state, claim, grant, amount);
      if (held != amount && claim.winner) sums.holds[claim.terms->cluster] = held;
      sums.now += amount;
      sums.held += held;
      sums.full += claim.winner ? std::max(amount, grant.granted) : amount;
    }
  }
}

void add_workers(QueueReader state, const QuotaKey& pair, const WorkerQuota& workers, Parts parts,
                 HubQuota& quota, QuotaSums& sums) {
  for (const auto& [cluster, share] : workers.shares) {
    if (!share.known || !share.counted || !share.values.contains(pair)) continue;
    const Amount amount = share_of(state.clusters, cluster, share, pair);
    if (parts == Parts::listed)
      quota.contributions.push_back({cluster, pair.flavor, pair.resource, amount});
    sums.now += amount;
    sums.held += amount;
    sums.full += amount;
  }
}

// Lets the quota grow only by the held parts while works of members are not applied. Never lowers
// it below the present quota for that.
void hold_growth(QueueReader state, const std::string& name, const QuotaKey& pair,
                 const QuotaSums& sums, HubQuota& quota) {
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end()) return;
  const Queue& queue = at->second;
  const auto written = queue.written.find(pair);
  Amount current =
      amount_in(queue.facts.groups, state.configuration.resource_aliases, pair).value_or(0);
  // A value to which another writer has raised the pair does not count as a floor: the write that
  // is due takes it back.
  if (written != queue.written.end()) current = std::min(current, written->second);
  if (quota.nominal <= current) return;
  quota.nominal = std::max(quota_of_sum(state, name, pair, sums.held), current);
  for (Contribution& part : quota.contributions)
    if (const auto held = sums.holds.find(part.cluster); held != sums.holds.end())
      part.amount = held->second;
}

Int128 percent_of(Int128 sum, std::int64_t percent, const QuotaKey& pair) {
  const Amount quantum = quantum_of(pair.resource);
  return percent == 100 ? sum : sum * percent / 100 / quantum * quantum;
}

Amount amount_of(const std::map<QuotaKey, Amount>& amounts, const QuotaKey& pair) {
  const auto at = amounts.find(pair);
  return at == amounts.end() ? 0 : at->second;
}

}  // namespace

const WorkerQuota* followed(const QueueTables& queues, const std::string& queue) {
  const auto at = queues.by_name.find(queue);
  return at != queues.by_name.end() && at->second.workers.follows ? &at->second.workers : nullptr;
}

bool depends_on_workers(const QueueTables& queues, const std::string& queue) {
  const auto at = queues.by_name.find(queue);
  return at != queues.by_name.end() && at->second.workers != WorkerQuota{};
}

bool claim_counts(const WorkerQuota* workers, const std::string& cluster) {
  if (!workers) return true;
  const auto share = workers->shares.find(cluster);
  return share != workers->shares.end() && share->second.counted &&
         share->second.from == ShareFrom::claims;
}

Amount quota_of_sum(QueueReader state, const std::string& queue, const QuotaKey& pair, Int128 sum) {
  const auto at = state.queues.by_name.find(queue);
  const Amount base =
      at == state.queues.by_name.end() ? 0 : amount_of(at->second.base.amounts, pair);
  const WorkerQuota* workers = followed(state.queues, queue);
  if (!workers) return saturate(base + percent_of(sum, state.configuration.overbook_percent, pair));
  const Int128 rest = percent_of(sum, workers->percent, pair) - amount_of(workers->reserve, pair);
  return saturate(base + std::max<Int128>(0, rest));
}

namespace {

// Returns the least sum of parts of which `quota` follows (quota_of_sum).
Int128 sum_for(QueueReader state, const std::string& queue, const QuotaKey& pair, Amount quota) {
  const WorkerQuota* workers = followed(state.queues, queue);
  const auto at = state.queues.by_name.find(queue);
  Int128 rest = quota;
  if (at != state.queues.by_name.end()) rest -= amount_of(at->second.base.amounts, pair);
  if (workers) rest += amount_of(workers->reserve, pair);
  const Int128 percent = workers ? workers->percent : state.configuration.overbook_percent;
  if (rest <= 0 || percent <= 0) return 0;
  // Rounded up: the least sum of which the percentage is not below `rest`.
  return (rest * 100 + percent - 1) / percent;
}

}  // namespace

std::vector<Contribution> parts_kept(QueueReader state, const std::string& queue,
                                     const QuotaKey& pair, Amount found,
                                     const std::set<std::string>& clusters) {
  std::vector<Contribution> parts;
  const auto claims = state.claims.of_queue.find(queue);
  if (claims == state.claims.of_queue.end()) return parts;
  HubQuota quota;
  QuotaSums sums;
  const WorkerQuota* workers = followed(state.queues, queue);
  add_claims(state, queue, pair, workers, Parts::summed, quota, sums);
  if (workers) add_workers(state, pair, *workers, Parts::summed, quota, sums);
  // The parts of the claims, by name, are filled up until together they give the quota that was
  // found.
  Int128 rest = sum_for(state, queue, pair, found) - sums.now;
  for (const std::string& name : claims->second) {
    const Claim& claim = state.claims.by_name.at(name);
    const std::string& cluster = claim.terms->cluster;
    const auto at = state.clusters.find(cluster);
    if (!claim.winner || !clusters.contains(cluster) || !claim_counts(workers, cluster) ||
        at == state.clusters.end() || at->second.counted_again_at)
      continue;
    for (const Grant& grant : claim.grants) {
      if (grant.row.cluster_queue != queue || grant.row.flavor != pair.flavor ||
          grant.row.resource != pair.resource)
        continue;
      const Amount now = contribution_of(state, claim, grant);
      const Int128 more = std::min<Int128>(rest, grant.granted - now);
      if (more <= 0) continue;
      rest -= more;
      parts.push_back({cluster, pair.flavor, pair.resource, now + static_cast<Amount>(more)});
    }
  }
  return parts;
}

HubQuota hub_quota(QueueReader state, const std::string& queue, const QuotaKey& pair, Parts parts) {
  HubQuota quota;
  QuotaSums sums;
  const WorkerQuota* workers = followed(state.queues, queue);
  add_claims(state, queue, pair, workers, parts, quota, sums);
  if (workers) add_workers(state, pair, *workers, parts, quota, sums);
  quota.unknown = workers ? !workers->known : sums.any && !sums.any_known;
  quota.nominal = quota_of_sum(state, queue, pair, sums.now);
  quota.full = quota_of_sum(state, queue, pair, sums.full);
  if (sums.held != sums.now) hold_growth(state, queue, pair, sums, quota);
  // part_of() searches them by halves. Claims are mostly named after their clusters, so they come
  // sorted already.
  if (!std::is_sorted(quota.contributions.begin(), quota.contributions.end()))
    std::sort(quota.contributions.begin(), quota.contributions.end());
  return quota;
}

HubQuotas::View& HubQuotas::view_of(const std::string& queue) {
  const auto [at, is_new] = views_.try_emplace(queue);
  if (is_new && depends_on_workers(state_.queues, queue)) followers_.insert(queue);
  return at->second;
}

void HubQuotas::forget_followers() {
  // The shares of workers step by time, which marks no queue.
  for (const std::string& queue : std::exchange(followers_, {})) views_.erase(queue);
}

const HubQuota& HubQuotas::of(const std::string& queue, const QuotaKey& pair) {
  auto& quotas = view_of(queue).quotas;
  if (const auto at = quotas.find(pair); at != quotas.end()) return at->second;
  return quotas.emplace(pair, hub_quota(state_, queue, pair)).first->second;
}

const std::set<QuotaKey>& HubQuotas::owned_pairs(const std::string& queue) {
  auto& owned = view_of(queue).owned;
  if (!owned) owned = fairlead::owned_pairs(state_, queue);
  return *owned;
}

bool HubQuotas::assigns(const std::string& queue, const std::string& resource) {
  auto& assigned = view_of(queue).assigned;
  if (!assigned) {
    assigned.emplace();
    if (const auto claims = state_.claims.of_queue.find(queue);
        claims != state_.claims.of_queue.end())
      for (const std::string& name : claims->second)
        for (const AssignmentRow& row : state_.claims.by_name.at(name).terms->rows)
          if (row.cluster_queue == queue) assigned->insert(row.resource);
  }
  return assigned->contains(resource);
}

}  // namespace fairlead
