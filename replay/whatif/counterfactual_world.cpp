#include "replay/whatif/counterfactual_world.h"

#include <algorithm>
#include <set>

#include "engine/fold/claims/claim_status_observation.h"
#include "engine/fold/held.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/emit.h"
#include "replay/whatif/counterfactual_tenants.h"

namespace fairlead {

namespace {

constexpr std::string_view kMadeUid =
    "00000000-0000-4000-8000-";  // of objects that a VirtualHub made

const FlavorQuotas* find_flavor(const ResourceGroup& group, const std::string& name) {
  const auto at = std::find_if(group.flavors.begin(), group.flavors.end(),
                               [&](const FlavorQuotas& flavor) { return flavor.name == name; });
  return at == group.flavors.end() ? nullptr : &*at;
}

// Returns the first group of `groups` that covers a resource of `group`; null if none does.
const ResourceGroup* counterpart(const std::vector<ResourceGroup>& groups,
                                 const ResourceGroup& group) {
  for (const ResourceGroup& other : groups)
    for (const std::string& resource : group.covered_resources)
      if (std::find(other.covered_resources.begin(), other.covered_resources.end(), resource) !=
          other.covered_resources.end())
        return &other;
  return nullptr;
}

// Merges one quota: a field that changed is theirs, another is ours.
ResourceQuota merge_quota(const ResourceQuota* base, ResourceQuota theirs,
                          const ResourceQuota* ours) {
  if (!base || !ours) return theirs;
  if (base->nominal == theirs.nominal) theirs.nominal = ours->nominal;
  if (base->lending_limit == theirs.lending_limit) theirs.lending_limit = ours->lending_limit;
  if (base->borrowing_limit == theirs.borrowing_limit)
    theirs.borrowing_limit = ours->borrowing_limit;
  return theirs;
}

ResourceGroup merge_group(const ResourceGroup* base, const ResourceGroup& theirs,
                          const ResourceGroup* ours) {
  if (!base || !ours) return theirs;
  if (*base == theirs) return *ours;
  ResourceGroup merged = theirs;
  // Remove a flavor that is in their list only because history's hub appended it, if the
  // counterfactual has not appended it.
  std::erase_if(merged.flavors, [&](const FlavorQuotas& flavor) {
    const FlavorQuotas* was = find_flavor(*base, flavor.name);
    return was && *was == flavor && !find_flavor(*ours, flavor.name);
  });
  for (FlavorQuotas& flavor : merged.flavors)
    for (ResourceQuota& quota : flavor.resources)
      quota = merge_quota(find_quota({*base}, flavor.name, quota.name), quota,
                          find_quota({*ours}, flavor.name, quota.name));
  for (const FlavorQuotas& flavor : ours->flavors)
    if (!find_flavor(*base, flavor.name) && !find_flavor(merged, flavor.name) &&
        merged.covered_resources == ours->covered_resources)
      merged.flavors.push_back(flavor);
  return merged;
}

std::size_t pairs_that_differ(const std::vector<ResourceGroup>& a,
                              const std::vector<ResourceGroup>& b) {
  std::size_t differing = 0;
  for (const ResourceGroup& group : b)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources) {
        const ResourceQuota* other = find_quota(a, flavor.name, quota.name);
        if (!other || !(*other == quota)) ++differing;
      }
  return differing;
}

// Returns the list that the author of `theirs` edited: the last observed one, or a write of ours
// that reached that author before the watch reported it. The candidate with the fewest differences
// is taken.
std::vector<ResourceGroup> list_before(const State& history, const std::string& name,
                                       const Queue& queue,
                                       const std::vector<ResourceGroup>& theirs) {
  std::vector<std::vector<ResourceGroup>> candidates{queue.facts.groups};
  if (queue.written_groups) candidates.push_back(*queue.written_groups);
  const auto write =
      history.writes.by_key.find({std::string(kHub), {Kind::cluster_queue, "", name}, false});
  if (write != history.writes.by_key.end() && write->second.outstanding &&
      write->second.outstanding->intent.expected)
    candidates.push_back(
        std::get<ClusterQueueFacts>(*write->second.outstanding->intent.expected).groups);
  return *std::min_element(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    return pairs_that_differ(a, theirs) < pairs_that_differ(b, theirs);
  });
}

void translate_queue(ObjectSeen& seen, const State& history, const State& counterfactual) {
  const auto was = history.queues.by_name.find(seen.key.name);
  const auto is = counterfactual.queues.by_name.find(seen.key.name);
  if (was == history.queues.by_name.end() || !was->second.present ||
      is == counterfactual.queues.by_name.end() || !is->second.present)
    return;  // it is new: neither world has written it
  if (is_made_uid(is->second.uid)) seen.uid = is->second.uid;
  ClusterQueueFacts& facts = std::get<ClusterQueueFacts>(seen.facts);
  facts.groups = merge_lists(list_before(history, seen.key.name, was->second, facts.groups),
                             facts.groups, is->second.facts.groups);
}

bool ours(const std::string& finalizer) { return finalizer == kClaimFinalizer; }

// Returns false if there is no fact to deliver.
bool translate_claim(ObjectSeen& seen, const State& history, const State& counterfactual) {
  ClaimFacts& facts = std::get<ClaimFacts>(seen.facts);
  const auto is = counterfactual.claims.by_name.find(seen.key.name);
  const auto write = history.writes.by_key.find({std::string(kHub), seen.key, false});
  const bool created_by_us =
      write != history.writes.by_key.end() &&
      ((write->second.outstanding && write->second.outstanding->intent.verb == Verb::create) ||
       write->second.awaits()) &&
      !history.claims.by_name.contains(seen.key.name);
  if (created_by_us) return false;
  const bool has_ours = std::any_of(facts.finalizers.begin(), facts.finalizers.end(), ours);
  std::erase_if(facts.finalizers, ours);
  const auto was = history.claims.by_name.find(seen.key.name);
  const bool edited = was == history.claims.by_name.end() || was->second.facts.spec != facts.spec ||
                      was->second.facts.deleting != facts.deleting;
  if (is == counterfactual.claims.by_name.end()) {
    // It came with our finalizer, from before this history: the same holds in the counterfactual.
    if (has_ours && was == history.claims.by_name.end())
      facts.finalizers.emplace_back(kClaimFinalizer);
    if (was != history.claims.by_name.end()) facts.status_grants.clear();
    return edited;  // not made here yet, or gone: an echo does not make it
  }
  const Claim& claim = is->second;
  const auto had = [](const Claim& of) {
    return std::any_of(of.facts.finalizers.begin(), of.facts.finalizers.end(), ours);
  };
  const bool taken_away = was != history.claims.by_name.end() && had(was->second) && !has_ours;
  if (had(claim) && !taken_away) facts.finalizers.emplace_back(kClaimFinalizer);
  facts.status_grants = claim.facts.status_grants;
  // If another writer overwrote the status in history, it is overwritten here too.
  if (!shows_foreign_status(history.writes, seen.key.name, facts))
    facts.status_digest = claim.facts.status_digest;
  if (is_made_uid(claim.uid)) {
    seen.uid = claim.uid;
    facts.created = claim.facts.created;
  }
  // The spec of a claim that we made follows from what was observed; until another writer edits it,
  // the counterfactual's own spec holds.
  if (was != history.claims.by_name.end() && was->second.facts.spec == facts.spec)
    facts.spec = claim.facts.spec;
  // Likewise for the nominal list alone, if the rest was edited or our write made the list grow.
  const auto* ours_then = nominal_of_ours(history, seen.key.name);
  if (ours_then && *ours_then == facts.spec.nominal_resources)
    facts.spec.nominal_resources = claim.facts.spec.nominal_resources;
  return true;
}

// ManifestWorks are ours; of the member's side only the usage feedback is kept.
bool translate_work(ObjectSeen& seen, const State& counterfactual) {
  const auto at = counterfactual.clusters.find(seen.key.namespace_);
  if (at == counterfactual.clusters.end()) return false;
  const ClusterMember& member = at->second.member;
  const auto of_quota = member.quota_works.find(seen.key.name);
  if (of_quota == member.quota_works.end() &&
      !(seen.key.name == kQueueWork && member.queue_work.present))
    return false;
  const Work& work = of_quota == member.quota_works.end() ? member.queue_work : of_quota->second;
  ManifestWorkFacts facts = work.facts;
  facts.feedback = std::get<ManifestWorkFacts>(seen.facts).feedback;
  facts.applied = facts.available = {ConditionStatus::yes, "", work.generation};
  seen.uid = work.uid;
  seen.resource_version = work.resource_version;
  seen.generation = work.generation;
  seen.facts = std::move(facts);
  return true;
}

// Whether the member's queue was then as our work had delivered it.
bool came_by_work(const Cluster& was, const std::string& queue,
                  const std::vector<ResourceGroup>& groups) {
  // The rule of the fold reads a cluster, so it gets one that has nothing but the works and this
  // queue.
  Cluster member;
  member.member.quota_works = was.member.quota_works;
  member.member.queues[queue].groups = groups;
  return !queues_not_as_applied(member).contains(queue);
}

// A queue that our work delivered has at the member the values of the counterfactual's work; its
// usage is history's. A manual change there happens here too, until the counterfactual's own touch
// asks the agent to apply the work again.
bool translate_member_queue(ObjectSeen& seen, const std::string& member, const State& history,
                            const State& counterfactual) {
  const auto was = history.clusters.find(member);
  const auto is = counterfactual.clusters.find(member);
  if (was == history.clusters.end() || is == counterfactual.clusters.end()) return true;
  std::vector<ResourceGroup>& groups = std::get<ClusterQueueFacts>(seen.facts).groups;
  if (!came_by_work(was->second, seen.key.name, groups)) return true;
  const Cluster& here = is->second;
  if (here.member.deviating.contains(seen.key.name)) {
    const auto at = here.member.queues.find(seen.key.name);
    if (at == here.member.queues.end()) return false;
    groups = at->second.groups;
    return true;
  }
  auto brought = groups_in_work(here, seen.key.name);
  if (!brought.empty()) groups = std::move(brought);
  return true;
}

// BindingPolicies are ours too; KubeStellar's status is taken to be about the counterfactual's
// policy.
bool translate_policy(ObjectSeen& seen, const State& history, const State& counterfactual) {
  const auto& said = std::get<BindingPolicyFacts>(seen.facts);
  const std::string cluster = cluster_of_policy(seen.key.name);
  const auto at = counterfactual.clusters.find(cluster);
  if (at == counterfactual.clusters.end() || !at->second.member.policy.present) return !said.ours;
  const Policy& policy = at->second.member.policy;
  BindingPolicyFacts facts = policy.facts;
  const auto was = history.clusters.find(cluster);
  if (was != history.clusters.end() && was->second.member.policy.present &&
      !write_under_way(history, seen.key)) {  // an edit of another writer
    const BindingPolicyFacts& before = was->second.member.policy.facts;
    if (said.ours != before.ours) facts.ours = said.ours;
    if (said.spec_digest != before.spec_digest) {
      facts.spec_digest = said.spec_digest;
      facts.namespaces = said.namespaces;
      facts.flavors = said.flavors;
    }
  }
  facts.synced = said.synced;
  facts.error = said.error;
  facts.observed_generation =
      policy.generation - (said.observed_generation == seen.generation ? 0 : 1);
  seen.uid = policy.uid;
  seen.resource_version = policy.resource_version;
  seen.generation = policy.generation;
  seen.facts = std::move(facts);
  return true;
}

bool translate_gone(const ObjectGone& gone, const State& history, const State& counterfactual) {
  if (gone.key.kind == Kind::manifest_work || gone.key.kind == Kind::binding_policy) return false;
  const auto claim = counterfactual.claims.by_name.find(gone.key.name);
  if (gone.key.kind != Kind::claim || claim == counterfactual.claims.by_name.end())
    return translate_gone_of_multikueue(gone.key, history, counterfactual);
  // The counterfactual removes it when it releases our finalizer.
  const auto& finalizers = claim->second.facts.finalizers;
  return !claim->second.facts.deleting || std::none_of(finalizers.begin(), finalizers.end(), ours);
}

}  // namespace

bool is_made_uid(const std::string& uid) { return uid.starts_with(kMadeUid); }

std::vector<ResourceGroup> merge_lists(const std::vector<ResourceGroup>& base,
                                       const std::vector<ResourceGroup>& theirs,
                                       const std::vector<ResourceGroup>& ours_now) {
  if (base == theirs) return ours_now;
  std::vector<ResourceGroup> merged;
  for (const ResourceGroup& group : theirs)
    merged.push_back(merge_group(counterpart(base, group), group, counterpart(ours_now, group)));
  return merged;
}

std::optional<WatchFact> translate(const Event& event, const State& history,
                                   const State& counterfactual) {
  WatchFact fact{event.source, {}};
  if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) {
    if (event.source == kHub && !translate_gone(*gone, history, counterfactual))
      return std::nullopt;
    fact.said = ObjectMissing{gone->key, gone->uid, gone->resource_version};
    return fact;
  }
  if (const auto* stale = std::get_if<SourceStale>(&event.fact); stale && stale->kind) {
    fact.said = StreamStale{*stale->kind, stale->cause};
    return fact;
  }
  if (const auto* lost = std::get_if<SourceLost>(&event.fact); lost && lost->kind) {
    fact.said = StreamLost{*lost->kind};
    return fact;
  }
  if (const auto* synced = std::get_if<SourceSynced>(&event.fact); synced && synced->kind) {
    fact.said = ListCompleted{*synced->kind, synced->resource_version};
    return fact;
  }
  const auto* observed = std::get_if<ObjectObserved>(&event.fact);
  if (!observed) return std::nullopt;
  ObjectSeen seen{observed->key,
                  observed->version,
                  observed->uid,
                  observed->resource_version,
                  observed->generation,
                  observed->facts,
                  {}};
  // History is in order already, and resourceVersions of two worlds cannot be compared.
  seen.resource_version.clear();
  if (event.source == kHub) {
    if (seen.key.kind == Kind::cluster_queue) translate_queue(seen, history, counterfactual);
    if (seen.key.kind == Kind::claim && !translate_claim(seen, history, counterfactual))
      return std::nullopt;
    if (seen.key.kind == Kind::manifest_work && !translate_work(seen, counterfactual))
      return std::nullopt;
    if (seen.key.kind == Kind::binding_policy && !translate_policy(seen, history, counterfactual))
      return std::nullopt;
    if (!translate_of_multikueue(seen, history, counterfactual)) return std::nullopt;
  } else if (is_tenant(event.source)) {
    translate_tenant(seen, event.source, history, counterfactual);
    // An echo of history's write: later, when it is no longer held back, it would be an edit.
    const auto known = held_facts(counterfactual, event.source, seen.key);
    if (known && *known == seen.facts) return std::nullopt;
  } else if (seen.key.kind == Kind::cluster_queue) {
    if (!translate_member_queue(seen, event.source, history, counterfactual)) return std::nullopt;
  }
  fact.said = std::move(seen);
  return fact;
}

}  // namespace fairlead
