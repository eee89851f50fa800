#include "engine/fold/members/works.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/queues/queues.h"

namespace fairlead {

namespace {

constexpr std::string_view kPolicyPrefix = "fairlead-";

std::map<MemberPair, Amount> quotas_of(const State& state, const ManifestWorkFacts& facts) {
  std::map<MemberPair, Amount> quotas;
  for (const WorkQuota& quota : facts.quotas)
    quotas[{quota.cluster_queue, quota.flavor,
            canonical_resource(state.configuration.resource_aliases, quota.resource)}] =
        quota.nominal;
  return quotas;
}

void requote_all(State& state, const std::map<MemberPair, Amount>& pairs) {
  for (const auto& [pair, amount] : pairs) requote(state, pair.cluster_queue);
}

void confirm(State& state, Cluster& cluster, std::map<MemberPair, Amount> confirmed) {
  if (cluster.member.confirmed == confirmed) return;
  requote_all(state, cluster.member.confirmed);
  requote_all(state, confirmed);
  cluster.member.confirmed = std::move(confirmed);
}

// Returns what both admit.
std::map<MemberPair, Amount> least_of(const std::map<MemberPair, Amount>& a,
                                      const std::map<MemberPair, Amount>& b) {
  std::map<MemberPair, Amount> least;
  for (const auto& [pair, amount] : a)
    if (const auto other = b.find(pair); other != b.end())
      least[pair] = std::min(amount, other->second);
  return least;
}

// Where a BindingPolicy brings the flavors, the agent can apply a queue before its flavors are
// there: such a queue admits nothing, and the member's Kueue reports it as not active.
bool waits_for_flavors(const State& state, const Work& work) {
  return state.configuration.member_mode == MemberMode::binding_policy &&
         std::any_of(work.facts.feedback.begin(), work.facts.feedback.end(),
                     [](const WorkFeedback& of) { return of.active == ConditionStatus::no; });
}

}  // namespace

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

void observe_work(State& state, const ObjectObserved& seen, Seq seq) {
  const bool quota = seen.key.name == kQuotaWork;
  if (!quota && seen.key.name != kQueueWork) return;
  Cluster& cluster = mark_cluster_dirty(state, seen.key.namespace_);
  Work& work = quota ? cluster.member.quota_work : cluster.member.queue_work;
  const std::vector<WorkQuota> before = std::move(work.facts.quotas);
  work = {true,
          seen.uid,
          seen.resource_version,
          seen.generation,
          std::get<ManifestWorkFacts>(seen.facts),
          seq};
  if (!quota) return;
  const auto quotas = quotas_of(state, work.facts);
  // While the agent applies the work either content may be in force: only the least of both is
  // known to be admitted.
  const bool admits = work.applied_and_available() && !waits_for_flavors(state, work);
  confirm(state, cluster, admits ? quotas : least_of(cluster.member.confirmed, quotas));
  if (before != work.facts.quotas) release_gone_flavors(state);
  recompute_member_queues(state, seen.key.namespace_);
  mark_cluster_claims_dirty(state, seen.key.namespace_);
}

void forget_work(State& state, const ObjectKey& key) {
  const auto at = state.clusters.find(key.namespace_);
  if (at == state.clusters.end()) return;
  mark_cluster_dirty(state, key.namespace_);
  if (key.name == kQueueWork) at->second.member.queue_work = {};
  if (key.name != kQuotaWork) return;
  at->second.member.quota_work = {};
  at->second.member.deviating.clear();
  // Without a work nothing is known to be admitted, so the hub promises nothing of the member.
  confirm(state, at->second, {});
  release_gone_flavors(state);
  mark_cluster_claims_dirty(state, key.namespace_);
}

void observe_policy(State& state, const ObjectObserved& seen, Seq seq) {
  const std::string cluster = cluster_of_policy(seen.key.name);
  if (cluster.empty()) return;
  mark_cluster_dirty(state, cluster).member.policy = {true,
                                                      seen.uid,
                                                      seen.resource_version,
                                                      seen.generation,
                                                      std::get<BindingPolicyFacts>(seen.facts),
                                                      seq};
  mark_cluster_claims_dirty(state, cluster);
}

void forget_policy(State& state, const ObjectKey& key) {
  const std::string cluster = cluster_of_policy(key.name);
  if (!state.clusters.contains(cluster)) return;
  mark_cluster_dirty(state, cluster).member.policy = {};
  mark_cluster_claims_dirty(state, cluster);
}

void expect_work(State& state, const PatchIntended& intent) {
  if (intent.target.name != kQuotaWork) return;
  const auto at = state.clusters.find(intent.target.namespace_);
  if (at == state.clusters.end()) return;
  const auto* expected =
      intent.expected ? std::get_if<ManifestWorkFacts>(&*intent.expected) : nullptr;
  confirm(state, at->second,
          expected ? least_of(at->second.member.confirmed, quotas_of(state, *expected))
                   : std::map<MemberPair, Amount>{});
}

}  // namespace fairlead
