#include "engine/plan/plan.h"

#include <algorithm>
#include <tuple>

#include "engine/base/check.h"
#include "engine/fold/members/works.h"
#include "engine/plan/claims/claim_life.h"
#include "engine/plan/claims/claim_status.h"
#include "engine/plan/members/binding_policy.h"
#include "engine/plan/members/manifest_work.h"
#include "engine/plan/multikueue/multikueue.h"
#include "engine/plan/pool/placements.h"
#include "engine/plan/queues/cluster_queue.h"

namespace fairlead {

namespace {

DirtySet everything_in(const State& state) {
  DirtySet all;
  // Names each set, so that none is forgotten. Two are subsets of `clusters`, whose writes follow.
  auto& [clusters, capacities, accepted, claims, queues, placements, workers, checks, workloads,
         fleet_claims, fleet_schedulings, namespaces, pods, everything] = all;
  for (const auto& [name, cluster] : state.clusters) clusters.insert(name);
  for (const auto& [name, claim] : state.claims.by_name) claims.insert(name);
  for (const auto& [name, queue] : state.queues.by_name) queues.insert(name);
  for (const auto& [name, list] : state.multikueue.lists) placements.insert(name);
  for (const auto& [name, cluster] : state.multikueue.clusters) workers.insert(name);
  for (const auto& [name, check] : state.multikueue.checks) checks.insert(name);
  for (const auto& [id, workload] : state.multikueue.workloads) workloads.insert(id);
  for (const auto& [id, users] : state.fleet.users) fleet_claims.insert(id);
  for (const auto& [id, claim] : state.fleet.claims) fleet_claims.insert(id);
  fleet_schedulings = workloads;
  for (const auto& [tenant, of] : state.pool.tenants)
    for (const auto& [name, each] : of.namespaces) {
      namespaces.insert({tenant, name});
      for (const auto& [pod, record] : each.pods) pods.insert({tenant, name, pod});
    }
  return all;
}

// The status of a claim reports its cluster, so the claims of dirty clusters are planned too.
std::set<std::string> claims_to_plan(const State& state, const DirtySet& dirty) {
  std::set<std::string> claims = dirty.claims;
  for (const std::string& cluster : dirty.clusters)
    if (const auto at = state.claims.of_cluster.find(cluster); at != state.claims.of_cluster.end())
      claims.insert(at->second.begin(), at->second.end());
  return claims;
}

// Claims of clusters whose accepted values moved, and nothing else: their statuses are planned if
// these numbers are due.
std::set<std::string> numbers_to_plan(const State& state, QueueWishes& wishes,
                                      const DirtySet& dirty) {
  std::set<std::string> claims;
  for (const std::string& cluster : dirty.accepted)
    if (const auto at = state.claims.of_cluster.find(cluster); at != state.claims.of_cluster.end())
      for (const std::string& claim : at->second)
        if (status_numbers_are_due(state, claim, wishes)) claims.insert(claim);
  return claims;
}

// What a member admits bounds the hub's queues, so the queues that dirty clusters feed are
// planned too.
std::set<std::string> queues_to_plan(const State& state, const DirtySet& dirty) {
  std::set<std::string> queues = dirty.queues;
  for (const std::string& name : dirty.clusters)
    if (const auto at = state.clusters.find(name); at != state.clusters.end())
      for (const auto& [queue, flavors] : at->second.member.named) queues.insert(queue);
  return queues;
}

// The objects that this round writes: statuses that report them wait for the answers
// (docs/decisions/0011-a-status-waits-for-its-writes.md).
class Writes {
 public:
  explicit Writes(const std::vector<PatchIntended>& proposals) {
    for (const PatchIntended& proposal : proposals) {
      const ObjectKey& target = proposal.target;
      if (target.kind == Kind::claim)
        claims_.insert(target.name);
      else if (target.kind == Kind::manifest_work)
        clusters_.insert(target.namespace_);
      else if (target.kind == Kind::binding_policy)
        clusters_.insert(cluster_of_policy(target.name));
      else
        queues_.insert(target.name);
    }
  }

  bool concern(const State& state, const std::string& name) const {
    const auto at = state.claims.by_name.find(name);
    if (at == state.claims.by_name.end()) return false;
    const Claim& claim = at->second;
    const std::string& cluster = claim.terms ? claim.terms->cluster : claim.facts.spec.cluster_name;
    return claims_.contains(name) || clusters_.contains(cluster) ||
           std::any_of(claim.grants.begin(), claim.grants.end(), [&](const Grant& grant) {
             return queues_.contains(grant.row.cluster_queue);
           });
  }

 private:
  std::set<std::string> claims_, clusters_, queues_;
};

}  // namespace

std::set<std::string> members_written(const std::vector<PatchIntended>& proposals) {
  std::set<std::string> clusters;
  for (const PatchIntended& work : proposals) {
    const ObjectKey& target = work.target;
    if (target.kind == Kind::manifest_work && quota_work_number(target.name))
      clusters.insert(target.namespace_);
  }
  return clusters;
}

bool member_is_on_its_way(const State& state, const std::string& queue,
                          const std::set<std::string>& members) {
  const auto claims = state.claims.of_queue.find(queue);
  if (claims == state.claims.of_queue.end()) return false;
  return std::any_of(claims->second.begin(), claims->second.end(), [&](const std::string& name) {
    // A claim is in of_queue by the rows of its terms, so it has them.
    const std::string& cluster = state.claims.by_name.at(name).terms->cluster;
    return members.contains(cluster) || quota_write_pending(state, cluster);
  });
}

static std::vector<PatchIntended> plan_round(const State& state, QueueWishes& wishes,
                                             DirtySet& dirty) {
  const DirtySet now = dirty.everything ? everything_in(state) : std::move(dirty);
  // Emptied first, because claims that wait for outcomes are put back below.
  dirty = {};
  // Once it is off, everything is planned: a ConfigChanged touches all.
  if (state.configuration.record) return {};
  std::vector<PatchIntended> proposals;
  const auto add = [&](Proposed proposal) { fairlead::add(std::move(proposal), proposals); };
  std::set<std::string> claims = claims_to_plan(state, now);
  claims.merge(numbers_to_plan(state, wishes, now));
  for (const std::string& cluster : now.clusters) {
    for (PatchIntended& work : emit_works(state, cluster, wishes.quotas()))
      proposals.push_back(std::move(work));
    add(emit_policy(state, cluster, wishes.quotas()));
    add(emit_new_claim(state, cluster));
    add(emit_grown_nominal(state, cluster));
  }
  // Where nothing but accepted values moved, only what offers them can change: works follow from
  // grants, and a claim whose grants moved has made its cluster dirty (recompute_claims).
  for (const std::string& cluster : now.accepted) {
    if (now.clusters.contains(cluster)) continue;
    add(emit_new_claim(state, cluster));
    add(emit_grown_nominal(state, cluster));
  }
  const std::set<std::string> members = members_written(proposals);
  for (const std::string& name : queues_to_plan(state, now)) {
    Proposed queue = emit_queue(state, name, wishes);
    // It need not stay dirty: each outcome and observation of the work marks the cluster, and with
    // it the queue (queues_to_plan).
    if (queue && queue->rank == Rank::grow && member_is_on_its_way(state, name, members)) continue;
    add(std::move(queue));
  }
  for (const std::string& claim : claims) add(emit_finalizer(state, claim, wishes));
  // After all writes that a status of a claim reports, and before the first status.
  const Writes writes(proposals);
  std::vector<PatchIntended> statuses;
  for (const std::string& claim : claims) {
    if (writes.concern(state, claim))
      dirty.claims.insert(claim);
    else if (Proposed status = emit_claim_status(state, claim, wishes))
      statuses.push_back(std::move(*status));
  }
  std::move(statuses.begin(), statuses.end(), std::back_inserter(proposals));
  std::vector<PatchIntended> multikueue = emit_multikueue(state, now);
  std::move(multikueue.begin(), multikueue.end(), std::back_inserter(proposals));
  for (const PoolNamespaceKey& key : now.pool_namespaces) add(emit_tenant_namespace(state, key));
  for (const PoolPodKey& key : now.pool_pods) add(emit_tenant_pod(state, key));
  // An object has at most one write of a rank in a round, so no two proposals are equal here, and
  // an unstable sort gives one order.
  std::sort(proposals.begin(), proposals.end(), [](const PatchIntended& a, const PatchIntended& b) {
    return std::tie(a.direction, a.rank, a.cluster, a.target) <
           std::tie(b.direction, b.rank, b.cluster, b.target);
  });
  return proposals;
}

std::vector<PatchIntended> plan(const State& state, DirtySet& dirty) {
  QueueWishes wishes(state);
  return plan_round(state, wishes, dirty);
}

Planner::Planner(const State& state)
    : state_(state), wishes_(std::make_unique<QueueWishes>(state)) {}
Planner::~Planner() = default;

std::vector<PatchIntended> Planner::plan(DirtySet& dirty) {
  wishes_->go_on(dirty);
#ifdef NDEBUG
  return plan_round(state_, *wishes_, dirty);
#else  // every test that plans compares the kept values with newly derived ones
  DirtySet again = dirty;
  auto intents = plan_round(state_, *wishes_, dirty);
  check(intents == fairlead::plan(state_, again), "a round of planning kept what had changed");
  return intents;
#endif
}

}  // namespace fairlead
