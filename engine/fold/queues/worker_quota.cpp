#include "engine/fold/queues/worker_quota.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/damped_set.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/deadlines.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/queues/queues.h"

namespace fairlead {

namespace {

// Returns the Placements whose workers the queue dispatches to.
std::set<std::string> placements_of(const MultiKueue& multikueue, const Queue& queue) {
  std::set<std::string> placements;
  for (const std::string& name : queue.facts.admission_checks) {
    const auto check = multikueue.checks.find(name);
    if (check == multikueue.checks.end() || !check->second.ours) continue;
    if (!check->second.placement.empty()) placements.insert(check->second.placement);
  }
  return placements;
}

bool is_detached(const NameMap<Cluster>& clusters, const std::string& cluster) {
  const auto at = clusters.find(cluster);
  return at != clusters.end() && at->second.presence.detached;
}

// Whether the worker counts. A leaver does while Kueue may dispatch to it; one that only stays for
// the Workloads that run there does not.
bool counts(const WorkerList& list, const Worker& worker) {
  if (!worker.listed || worker.cluster.empty()) return false;
  return worker.selected || list.use == ListUse::kept || worker.standing != Standing::held;
}

struct Member {
  bool counted = false;
  bool selected = false;
  std::vector<Seq> causes;  // events that led to it
};
// By cluster. Contains those that are selected and not in the list too, so that their shares are
// known when they enter.
using Members = std::map<std::string, Member>;
Members members_of(QueueReader state, const Queue& queue) {
  Members members;
  for (const std::string& placement : placements_of(state.multikueue, queue)) {
    const auto list = state.multikueue.lists.find(placement);
    if (list == state.multikueue.lists.end()) continue;
    for (const auto& [name, worker] : list->second.workers) {
      const bool counted = counts(list->second, worker);
      if ((!counted && !worker.selected) || is_detached(state.clusters, worker.cluster)) continue;
      Member& member = members[worker.cluster];
      member.counted |= counted;
      member.selected |= worker.selected;
      member.causes = worker.causes;
    }
  }
  return members;
}

bool is_read_at_member(const Cluster& cluster) {
  return cluster.reports.nodes_known || !cluster.member.queues.empty() ||
         !cluster.member.local_queues.empty();
}

// The claims that name the queue for the cluster, and whether one of them knows its capacity.
struct ClaimsOfWorker {
  bool any = false, known = false;
};
ClaimsOfWorker claims_of(QueueReader state, const std::string& queue, const std::string& cluster) {
  ClaimsOfWorker found;
  const auto claims = state.claims.of_queue.find(queue);
  if (claims == state.claims.of_queue.end()) return found;
  for (const std::string& name : claims->second) {
    const Claim& claim = state.claims.by_name.at(name);
    if (claim.terms->cluster != cluster) continue;
    found.any = true;
    found.known |= claim.known;
  }
  return found;
}

ShareFrom source_of(QueueReader state, const std::string& queue, const std::string& cluster) {
  const auto at = state.clusters.find(cluster);
  if (at != state.clusters.end() && is_read_at_member(at->second)) return ShareFrom::member;
  return claims_of(state, queue, cluster).any ? ShareFrom::claims : ShareFrom::none;
}

struct Offer {
  std::map<QuotaKey, Int128> sums;
  std::vector<Seq> causes;
};
Offer offer_of(QueueReader state, const std::string& queue, const Cluster& cluster) {
  Offer offer;
  for (const auto& [name, stopped] : related_queues(state.queues, queue, cluster)) {
    const auto at = cluster.member.queues.find(name);
    if (at == cluster.member.queues.end()) continue;
    offer.causes.push_back(at->second.seq);
    if (!stopped.empty()) continue;
    for (const ResourceGroup& group : at->second.groups)
      for (const FlavorQuotas& flavor : group.flavors)
        for (const ResourceQuota& quota : flavor.resources) {
          const std::string& resource =
              canonical_resource(state.configuration.resource_aliases, quota.name);
          offer.sums[{flavor.name, resource}] += to_amount(resource, quota.nominal);
        }
  }
  std::sort(offer.causes.begin(), offer.causes.end());
  return offer;
}

using ShareValues = DampedSet<std::map<QuotaKey, DampedValue>>;
ShareValues share_values_of(WorkerShare& share) {
  return {share.values,
          {nullptr, share.known, share.first_valued, share.last_changed, share.liveness_at_close}};
}

// What a share decides otherwise than other sets: a worker that is not watched reports no change,
// so that its first value waits for the end of growWindow.
SetRules rules_of(const WorkerShare& share) {
  SetRules rules;
  rules.awaits_first = !share.known;
  rules.reported = share.from == ShareFrom::member;
  return rules;
}

void remember_all(WorkerShare& share, const std::vector<Seq>& seqs) {
  for (const Seq seq : seqs)
    if (std::find(share.causes.begin(), share.causes.end(), seq) == share.causes.end())
      remember(share.causes, seq);
}

void recompute_share(QueueReader state, const std::string& queue, const std::string& name,
                     WorkerShare& share, const std::vector<Seq>& causes, LogTime& next) {
  const auto at = state.clusters.find(name);
  const bool watched = share.from == ShareFrom::member;
  const DebounceSettings settings = settings_of(state, name);
  // `from` is `member` only where source_of() has found the cluster.
  const Offer offer = watched ? offer_of(state, queue, at->second) : Offer{};
  for (const auto& [pair, sum] : offer.sums) share.values.try_emplace(pair);
  ShareValues values = share_values_of(share);
  const auto changes = values.changes([&](const QuotaKey& pair, const DampedValue&) {
    const auto sum = offer.sums.find(pair);
    const Amount amount = sum == offer.sums.end() ? 0 : saturate(sum->second);
    return std::pair(amount, amount);  // nothing of a quota is suppressed
  });
  values.measure(changes, state.now);
  if (!changes.empty()) {
    remember_all(share, causes);
    remember_all(share, offer.causes);
  }
  values.set_liveness(at == state.clusters.end() ? Liveness::live : at->second.liveness_at_close,
                      state.now);
  if (share.from == ShareFrom::claims && claims_of(state, queue, name).known) share.known = true;
  values.close(state.now, settings, gate_of(share), rules_of(share));
  next = std::min(next, values.next_deadline(state.now, settings, gate_of(share), rules_of(share)));
}

// Returns the events that removed a cluster from the lists that the queue follows.
std::vector<Seq> seqs_of_leaving(QueueReader state, const Queue& queue,
                                 const std::string& cluster) {
  for (const std::string& placement : placements_of(state.multikueue, queue)) {
    const auto list = state.multikueue.lists.find(placement);
    if (list == state.multikueue.lists.end()) continue;
    for (const auto& [name, worker] : list->second.workers)
      if (worker.cluster == cluster && !worker.selected) return worker.causes;
    if (!list->second.causes.empty()) return list->second.causes;
  }
  return {state.seq};
}

// Evaluates the shares of all workers. The values of a former worker go at once, because the list's
// windows have waited already.
void recompute_shares(QueueRoom state, const std::string& name, Queue& queue) {
  const Members members = members_of(state, queue);
  auto& shares = queue.workers.shares;
  for (const auto& [cluster, share] : shares)
    if (share.counted && !members.contains(cluster))
      queue.workers.left.try_emplace(cluster, seqs_of_leaving(state, queue, cluster));
  std::erase_if(shares, [&](const auto& entry) { return !members.contains(entry.first); });
  LogTime next = kForever;
  bool any = false, reported = true;
  for (const auto& [cluster, member] : members) {
    const auto [at, added] = shares.try_emplace(cluster);
    WorkerShare& share = at->second;
    const ShareFrom from = source_of(state, name, cluster);
    // A member that becomes watched reports its own first values, which are waited for.
    if (added || (from == ShareFrom::member && share.from != from)) {
      share = {};
      share.first_valued = share.last_changed = state.now;
    }
    share.from = from;
    if (member.selected)
      queue.workers.left.erase(cluster);
    else
      queue.workers.left[cluster] = member.causes;
    if (member.counted && !share.counted) remember_all(share, member.causes);
    share.counted = member.counted;
    recompute_share(state, name, cluster, share, member.causes, next);
    any |= share.counted;
    reported &= share.known || !share.counted;
  }
  // A cluster whose part is no longer in our last write needs no reason for having left.
  std::erase_if(queue.workers.left, [&](const auto& entry) {
    return !members.contains(entry.first) &&
           std::none_of(queue.contributed.begin(), queue.contributed.end(),
                        [&](const Contribution& part) { return part.cluster == entry.first; });
  });
  state.deadlines.set(QuotaDeadline{name}, next);
  if (any && reported) queue.workers.known = true;
}

// Gives the queue's quota back to the administrator, with its present values.
void stop_following(QueueRoom state, const std::string& name, Queue& queue) {
  queue.workers.follows = queue.workers.known = false;
  queue.workers.shares.clear();
  queue.workers.left.clear();
  const std::set<QuotaKey> named = named_pairs(state, name);
  std::erase_if(queue.written, [&](const auto& entry) { return !named.contains(entry.first); });
  state.deadlines.set(QuotaDeadline{name}, kForever);
}

void recompute_follower(QueueRoom state, const std::string& name) {
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end()) return;
  Queue& queue = at->second;
  const bool follows =
      queue.present && queue.workers.asked && !placements_of(state.multikueue, queue).empty();
  const bool before = std::exchange(queue.workers.follows, follows);
  if (follows) recompute_shares(state, name, queue);
  if (!follows && before) stop_following(state, name, queue);
  if (follows || before) mark_queue_dirty(state.queues, name);
}

}  // namespace

void mark_follower_dirty(StateView<MultiKueue, const QueueTables> state, const std::string& queue) {
  const auto at = state.queues.by_name.find(queue);
  if (at == state.queues.by_name.end()) return;
  const WorkerQuota& terms = at->second.workers;
  auto& followers = state.multikueue.followers;
  const bool was = followers.contains(queue);
  const bool is = at->second.present && (terms.asked || !terms.malformed.empty());
  if (is) followers.insert(queue);
  if (!is) followers.erase(queue);
  if (is || was) state.multikueue.dirty_followers.insert(queue);
}

void mark_followers_dirty(MultiKueue& multikueue) {
  multikueue.dirty_followers.insert(multikueue.followers.begin(), multikueue.followers.end());
}

void recompute_worker_quotas(QueueRoom state) {
  for (const std::string& name : state.multikueue.followers)
    // The queue's checks decide whose workers count, and its claims whether the share of a worker
    // without a watch is known: a change of either marks the queue.
    if (state.queues.dirty.contains(name) || state.queues.dirty_quotas.contains(name))
      state.multikueue.dirty_followers.insert(name);
  for (const std::string& name : std::exchange(state.multikueue.dirty_followers, {}))
    recompute_follower(state, name);
}

// Why a queue admits nothing; empty if it does. One without the condition, as Kueue leaves it for a
// moment, admits.
static std::string why_stopped(const std::string& what, const std::string& stop_policy,
                               ConditionStatus active, const std::string& reason) {
  if (!stop_policy.empty() && stop_policy != "None") return what + " has stopPolicy " + stop_policy;
  if (active != ConditionStatus::no) return "";
  return what + " is inactive" + (reason.empty() ? "" : ": " + reason);
}

Gate gate_of(const WorkerShare& share) {
  Gate gate;
  if (share.liveness_at_close != Liveness::live) gate.growth = Growth::frozen;
  return gate;
}

std::map<std::string, std::string> related_queues(const QueueTables& queues,
                                                  const std::string& queue,
                                                  const Cluster& cluster) {
  std::map<std::string, std::string> related;
  for (const auto& [id, local_queue] : queues.local) {
    if (local_queue.cluster_queue != queue) continue;
    const auto there = cluster.member.local_queues.find(id);
    if (there == cluster.member.local_queues.end()) continue;
    const LocalQueueFacts& facts = there->second;
    const std::string stopped =
        why_stopped("LocalQueue " + id.first + "/" + id.second, facts.stop_policy,
                    facts.active.status, facts.active.reason);
    const auto [at, added] = related.try_emplace(facts.cluster_queue, stopped);
    // One LocalQueue that admits is enough.
    if (!added && stopped.empty()) at->second.clear();
  }
  // What stops the ClusterQueue stops its LocalQueues too, and is the cause.
  for (auto& [name, stopped] : related)
    if (const auto at = cluster.member.queues.find(name); at != cluster.member.queues.end()) {
      const MemberQueue& there = at->second;
      std::string why =
          why_stopped("ClusterQueue " + name, there.stop_policy, there.active, there.reason);
      if (!why.empty()) stopped = std::move(why);
    }
  return related;
}

Amount share_of(const NameMap<Cluster>& clusters, const std::string& cluster,
                const WorkerShare& share, const QuotaKey& pair) {
  const auto value = share.values.find(pair);
  if (!share.known || !share.counted || value == share.values.end()) return 0;
  const auto at = clusters.find(cluster);
  return at != clusters.end() && at->second.counted_again_at ? 0 : value->second.accepted;
}

}  // namespace fairlead
