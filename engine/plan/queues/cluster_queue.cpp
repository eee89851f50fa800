#include "engine/plan/queues/cluster_queue.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/plan/causes.h"

namespace fairlead {

namespace {

ResourceQuota* find_pair(std::vector<ResourceGroup>& groups, const ResourceAliases& aliases,
                         const QuotaKey& pair) {
  const auto name = covered_name(groups, aliases, pair.resource);
  // The list is the caller's to change. Only find_quota(), which others read with, returns const.
  return name ? const_cast<ResourceQuota*>(find_quota(groups, pair.flavor, *name)) : nullptr;
}

std::vector<Contribution> contributions_of(const std::vector<Contribution>& all,
                                           const QuotaKey& pair) {
  std::vector<Contribution> some;
  for (const Contribution& part : all)
    if (part.flavor == pair.flavor && part.resource == pair.resource) some.push_back(part);
  return some;
}

// Kueue's webhook rejects limits without a cohort, and a lendingLimit above the nominal quota. The
// administrator's lendingLimit is remembered and comes back when the quota grows.
void fit_limits(const Queue& queue, const QuotaKey& pair, ResourceQuota& quota) {
  if (queue.facts.cohort.empty()) return;
  const auto remembered = queue.lending.find(pair);
  if (remembered == queue.lending.end()) return;
  const Quantity fitting = std::min<Quantity>(remembered->second, quota.nominal);
  if (quota.lending_limit != fitting) quota.lending_limit = fitting;
}

void drop_limits_without_cohort(const Queue& queue, std::vector<ResourceGroup>& groups) {
  if (!queue.facts.cohort.empty()) return;
  for (ResourceGroup& group : groups)
    for (FlavorQuotas& flavor : group.flavors)
      for (ResourceQuota& quota : flavor.resources) {
        quota.borrowing_limit.reset();
        quota.lending_limit.reset();
      }
}

// Returns why the pair is left as observed, and the queue's last write of it goes on; nullopt if it
// is written. `entry` is null if the list has no place for it.
std::optional<PairBar> bar_of(const Queue& queue, const QuotaKey& pair, const HubQuota& quota,
                              const QueueWish& wish, const ResourceQuota* entry) {
  if (quota.unknown) return PairBar::unknown_capacity;
  if (wish.withheld.contains(pair)) return PairBar::withheld;
  if (queue.contested.contains(pair)) return PairBar::contested;
  return entry ? std::nullopt : std::optional(PairBar::no_place);
}

struct Change {
  std::set<QuotaKey> pairs;  // what differs
  std::string text;
};

Change describe(const State& state, const Queue& queue, const QueueWish& wish,
                const std::set<QuotaKey>& owned) {
  const ResourceAliases& aliases = state.configuration.resource_aliases;
  Change change;
  for (const QuotaKey& pair : owned) {
    const auto name = covered_name(wish.groups, aliases, pair.resource);
    const ResourceQuota* is = name ? find_quota(wish.groups, pair.flavor, *name) : nullptr;
    if (!is) continue;
    const auto old_name = covered_name(queue.facts.groups, aliases, pair.resource);
    const ResourceQuota* was =
        old_name ? find_quota(queue.facts.groups, pair.flavor, *old_name) : nullptr;
    if (was && was->nominal == is->nominal) continue;
    change.pairs.insert(pair);
    change.text += (change.text.empty() ? "" : "; ") + pair.flavor + " " + *name + " " +
                   (was ? was->nominal.text() : "0") + " -> " + is->nominal.text();
  }
  if (change.text.empty()) change.text = "limits follow the quota";
  return change;
}

}  // namespace

QueueBar queue_bar(const State& state, const std::string& name) {
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end() || !at->second.present) return QueueBar::absent;
  if (orchestration_of(state.queues, at->second)) return QueueBar::orchestrated;
  if (at->second.facts.deleting) return QueueBar::deleting;
  return quota_automated(state.multikueue, at->second) ? QueueBar::automated : QueueBar::none;
}

QueueWish wish_for_queue(const State& state, const std::string& name, HubQuotas& hub) {
  QueueWish wish;
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end() || !at->second.present) return wish;
  const Queue& queue = at->second;
  const ResourceAliases& aliases = state.configuration.resource_aliases;
  // hub.of() adds quotas beside this set while it is walked, in maps, whose elements do not move.
  const std::set<QuotaKey>& owned = hub.owned_pairs(name);
  std::map<QuotaKey, Place> wanted;
  for (const QuotaKey& pair : owned) {
    const HubQuota& quota = hub.of(name, pair);
    const bool has_value =
        !quota.unknown && (quota.assigned || quota.nominal > 0) && !queue.contested.contains(pair);
    wanted[pair] = has_value ? Place::made : Place::if_there;
  }
  Shape shape = shape_groups(state, name, wanted);
  wish.groups = std::move(shape.groups);
  wish.withheld = std::move(shape.withheld);
  for (const QuotaKey& pair : owned) {
    const HubQuota& quota = hub.of(name, pair);
    ResourceQuota* entry = find_pair(wish.groups, aliases, pair);
    if (const auto bar = bar_of(queue, pair, quota, wish, entry)) {
      wish.kept[pair] = *bar;
      // The hub keeps promising what is left as observed, so its parts go into this write's record
      // too.
      for (const Contribution& part : contributions_of(queue.contributed, pair))
        wish.contributions.push_back(part);
      continue;
    }
    const Amount observed = to_amount(pair.resource, entry->nominal);
    // One pair that falls makes the whole write a shrink, because the list is atomic. Pairs that
    // grow with it are safe: their contributions are bounded by what members have confirmed.
    if (quota.nominal < observed) wish.direction = Direction::lowers;
    // A right amount keeps its fraction: 100.5m counts as 101m, and need not be written.
    if (quota.nominal != observed) entry->nominal = to_quantity(entry->name, quota.nominal);
    fit_limits(queue, pair, *entry);
    wish.contributions.insert(wish.contributions.end(), quota.contributions.begin(),
                              quota.contributions.end());
  }
  std::sort(wish.contributions.begin(), wish.contributions.end());
  drop_limits_without_cohort(queue, wish.groups);
  // drop_limits_without_cohort() may have changed a list in which no pair is ours: that is not
  // written.
  wish.differs = !owned.empty() && wish.groups != queue.facts.groups;
  wish.orchestrated = orchestration_of(state.queues, queue);
  wish.emitted = queue_bar(state, name) == QueueBar::none;
  return wish;
}

// A kept wish is what wish_for_queue would return now: go_on() drops it when an input of it
// changed.
// - The queue itself, its claims' terms and grants, which claim is in force, what we wrote and what
//   members confirmed: a rule that changes one of them calls note_quota_change. The queue, or a
//   claim that names it, is closed in the same moment, so it is in DirtySet::queues (look_at).
// - The three values of a cluster that contribution_of and held_part read beside those (compare).
// - Cohorts above the queue: observe_cohort marks the queues below.
// - The configuration, and which flavors the hub has: DirtySet::everything.
// - What is left is in `fleeting_`, and derived in each round. The wish of a queue with admission
//   checks reads AdmissionChecks and MultiKueueConfigs (quota_automated); the wish of a queue that
//   follows workers reads their shares, which step by time, and whether their clusters are counted
//   (share_of). The rules behind these mark such queues as a whole (mark_users_of_checks_dirty,
//   recompute_follower), but it is not relied on that each change of them does.
// A debug build compares each round with one that keeps nothing (Planner::plan).
const QueueWish& QueueWishes::of(const std::string& queue) {
  if (const auto at = made_.find(queue); at != made_.end()) return at->second;
  const auto at = state_.queues.by_name.find(queue);
  const bool has_checks =
      at != state_.queues.by_name.end() && !at->second.facts.admission_checks.empty();
  if (has_checks || depends_on_workers(state_.queues, queue)) fleeting_.insert(queue);
  return made_.emplace(queue, wish_for_queue(state_, queue, quotas_)).first->second;
}

void QueueWishes::forget(const std::string& queue) {
  made_.erase(queue);
  quotas_.forget(queue);
}

void QueueWishes::forget_all() {
  made_.clear();
  quotas_.forget_all();
  inputs_.clear();
  as_of_.clear();
}

// Most queues are dirty because it may be time to write them: their wishes did not change. A
// change of a wish changes Queue::changed, whose values come from one counter of the State: a queue
// that is deleted and created again never returns to a value that was seen. `as_of_` is
// kept beside the wish, not in it: a queue may be dirty before its wish is asked for, and a wish
// that is forgotten for a cluster's sake leaves the count as it is.
void QueueWishes::look_at(const std::string& queue) {
  const auto at = state_.queues.by_name.find(queue);
  if (at == state_.queues.by_name.end()) return forget(queue);
  std::uint64_t& as_of = as_of_[queue];
  if (as_of == *at->second.changed) return;
  as_of = *at->second.changed;
  forget(queue);
}

void QueueWishes::compare(const std::string& cluster) {
  const auto at = state_.clusters.find(cluster);
  // Which queues a cluster fed that is gone is not known any more.
  if (at == state_.clusters.end()) return forget_all();
  const Cluster& now = at->second;
  ClusterInputs inputs{has_member(state_.configuration, now), {}, now.counted_again_at.has_value()};
  for (const auto& [queue, flavors] : now.member.named)
    if (is_settled(now, queue)) inputs.settled.insert(queue);
  const auto [known, is_new] = inputs_.try_emplace(cluster, inputs);
  // At the first look there is nothing to compare with, and wishes may have been made before it.
  if (!is_new && known->second == inputs) return;
  known->second = inputs;
  for (const auto& [queue, flavors] : now.member.named) forget(queue);
}

void QueueWishes::go_on(const DirtySet& changed) {
  // Statuses are compared with bodies, not with State, and outlive forget_all(). The statuses of
  // claims that are gone are dropped, or they would be kept for ever.
  for (const std::string& claim : changed.claims)
    if (!state_.claims.by_name.contains(claim)) statuses_.forget(claim);
  if (changed.everything) return forget_all();
  for (const std::string& queue : changed.queues) look_at(queue);
  for (const std::string& cluster : changed.clusters) compare(cluster);
  for (const std::string& queue : std::exchange(fleeting_, {})) made_.erase(queue);
  quotas_.forget_followers();
}

PatchIntended queue_intent(const State& state, const std::string& name, QueueWish wish) {
  const Queue& queue = state.queues.by_name.at(name);
  const std::string version = kueue_version(state);

  PatchIntended intent = hub_intent(Verb::apply, {Kind::cluster_queue, "", name}, version,
                                    queue.uid, queue.resource_version);
  // The list is one atomic field, and an administrator may be its manager: what the administrator
  // has in it is in our list too (docs/decisions/0006-pairs-have-a-place-at-zero.md).
  intent.force = true;
  Json body =
      object_head(Kind::cluster_queue, version, "", name, queue.uid, queue.resource_version);
  body["spec"] = {{"resourceGroups", groups_as_written(wish.groups)}};
  intent.body = to_text(body);
  intent.contributions = std::move(wish.contributions);
  intent.overlaid = queue.facts.groups;
  const Change change = describe(state, queue, wish, owned_pairs(state, name));
  const bool lowers = wish.direction == Direction::lowers;
  intent.direction = wish.direction;
  intent.rank = lowers ? Rank::shrink : Rank::grow;
  intent.reason = {followed(state.queues, name)
                       ? (lowers ? rule::kWorkersShrink : rule::kWorkersGrow)
                       : (lowers ? rule::kClaimsShrink : rule::kClaimsGrow),
                   seqs_behind(state, name, change.pairs, intent.contributions), change.text};
  ClusterQueueFacts expected = queue.facts;
  expected.groups = std::move(wish.groups);
  intent.expected = std::move(expected);
  return intent;
}

Proposed emit_queue(const State& state, const std::string& name, QueueWishes& wishes) {
  const QueueWish& wish = wishes.of(name);
  if (!wish.emitted || !wish.differs) return std::nullopt;
  PatchIntended intent = queue_intent(state, name, wish);
  return proposed(state, intent.rank, std::move(intent));
}

}  // namespace fairlead
