#include "engine/fold/queues/queues.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "engine/base/check.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/claims/dirty_claims.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/overwrites.h"
#include "engine/fold/queues/queue_annotations.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/queues/take_over.h"
#include "engine/fold/queues/worker_quota.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

const Outstanding* outstanding_of(const WriteTables& writes, const std::string& queue) {
  const WriteState* write =
      find_write(writes, WriteKeyView{kHub, Kind::cluster_queue, "", queue, false});
  return write && write->outstanding ? &*write->outstanding : nullptr;
}

// Returns the clusters and pairs whose part in a write differs from the write before.
std::set<std::pair<std::string, QuotaKey>> parts_that_differ(
    const std::vector<Contribution>& before, const std::vector<Contribution>& after) {
  std::vector<Contribution> differing;
  std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                std::back_inserter(differing));
  std::set<std::pair<std::string, QuotaKey>> parts;
  for (const Contribution& part : differing)
    parts.insert({part.cluster, {part.flavor, part.resource}});
  return parts;
}

// Notes the write for each of its changed `parts`. A part that is no longer contributed is kept
// while its cluster may contribute again.
void note_parts(QueueReader state, const std::string& name, Queue& queue,
                const std::set<std::pair<std::string, QuotaKey>>& parts, const WrittenAt& written) {
  for (const auto& part : parts) queue.contributed_at[part] = written;
  std::set<std::string> contributors;
  for (const Contribution& part : queue.contributed) contributors.insert(part.cluster);
  if (const auto claims = state.claims.of_queue.find(name); claims != state.claims.of_queue.end())
    for (const std::string& claim : claims->second)
      contributors.insert(state.claims.by_name.at(claim).terms->cluster);
  for (const auto& [cluster, share] : queue.workers.shares) contributors.insert(cluster);
  std::erase_if(queue.contributed_at,
                [&](const auto& entry) { return !contributors.contains(entry.first.first); });
}

// A claim that is being deleted waits for the writes that take its quota back.
void mark_deleted_claims_dirty(ClaimTables& claims, const std::string& queue) {
  const auto at = claims.of_queue.find(queue);
  if (at == claims.of_queue.end()) return;
  for (const std::string& name : at->second)
    if (claims.by_name.at(name).facts.deleting) mark_claim_dirty(claims, name);
}

}  // namespace

bool is_contested(const QueueTables& queues, const std::string& queue, const QuotaKey& pair) {
  const auto at = queues.by_name.find(queue);
  return at != queues.by_name.end() && at->second.contested.contains(pair);
}

void follow_terms(QueueRoom state, const std::string& name, Queue& queue) {
  read_worker_terms(queue.facts.worker_quota, state.configuration.resource_aliases, queue.workers);
  resolve_conflict(state.queues, name);
  mark_follower_dirty(state, name);
  for (const std::string& check : queue.facts.admission_checks)  // they report what is malformed
    state.multikueue.dirty_checks.insert(check);
}

void observe_queue(ObservedQueueRoom state, const ObjectObserved& seen, Seq seq) {
  Queue& queue = state.queues.by_name[seen.key.name];
  note_groups(state, queue.present ? &queue.facts.groups : nullptr,
              &std::get<ClusterQueueFacts>(seen.facts).groups);
  const bool another = !seen.uid.empty() && !queue.uid.empty() && queue.uid != seen.uid;
  if (!queue.present || another) {
    // The last good base quota is kept: it counts if the annotation of the new object is malformed.
    const BaseQuota base = std::move(queue.base);
    queue = Queue{};
    queue.base = base;
  }
  const bool is_new = !queue.present;
  const ClusterQueueFacts before = std::move(queue.facts);
  const auto& facts = std::get<ClusterQueueFacts>(seen.facts);
  const bool base_changed = is_new || before.base_quota != facts.base_quota;
  const bool terms_changed = is_new || before.worker_quota != facts.worker_quota;
  queue.present = true;
  if (!seen.uid.empty()) queue.uid = seen.uid;
  queue.version = seen.version;
  queue.resource_version = seen.resource_version;
  queue.generation = seen.generation;
  queue.facts = facts;
  queue.seq = seq;
  if (base_changed)
    queue.base =
        read_base_quota(queue.facts.base_quota, state.configuration.resource_aliases, queue.base);
  if (terms_changed) follow_terms(state, seen.key.name, queue);
  if (orchestration_of(state.queues, queue)) resolve_conflict(state.queues, seen.key.name);
  // After the facts and the base quota were replaced: an overwrite is compared with the quota that
  // follows from them.
  const bool ours = has_own_list(state.writes, seen.key.name, queue);
  if (!ours)
    note_foreign_list(state, seen.key.name, queue, before.groups, seen.resource_version, seq);
  const bool ended = end_contests(state, seen.key.name, queue);
  ClusterQueueFacts same = queue.facts;
  same.groups = before.groups;
  if (!is_new && ours && same == before && !ended) {
    requote(state.queues, seen.key.name);  // our own write came back: claims and clusters know it
    mark_deleted_claims_dirty(state.claims, seen.key.name);
    return;
  }
  mark_queue_dirty(state.queues, seen.key.name);
  mark_queue_claims_dirty(state.claims, seen.key.name);
}

void forget_queue(ObservedQueueRoom state, const std::string& name) {
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end()) return;
  if (at->second.present) note_groups(state, &at->second.facts.groups, nullptr);
  at->second.present = false;
  at->second.written.clear();
  at->second.written_groups.reset();
  at->second.contributed.clear();
  at->second.contributed_at.clear();
  mark_queue_dirty(state.queues, name);
  mark_follower_dirty(state, name);
  mark_queue_claims_dirty(state.claims, name);
}

void accept_queue_write(QueueRoom state, const PatchIntended& intent, const WrittenAt& written) {
  Queue& queue = state.queues.by_name[intent.target.name];
  const auto* expected =
      intent.expected ? std::get_if<ClusterQueueFacts>(&*intent.expected) : nullptr;
  if (!expected) return;
  // The write replaced another writer's values: claims that name the queue are planned again, also
  // where no part changed.
  if (queue.written_groups && intent.overlaid != *queue.written_groups)
    mark_queue_dirty(state.queues, intent.target.name);
  queue.written_groups = expected->groups;
  queue.written_at = written;
  const std::vector<Contribution> before = std::exchange(queue.contributed, intent.contributions);
  const auto parts = parts_that_differ(before, intent.contributions);
  for (const auto& [cluster, pair] : parts) mark_cluster_dirty(state, cluster);
  note_parts(state, intent.target.name, queue, parts, written);
  const ResourceAliases& aliases = state.configuration.resource_aliases;
  for (const QuotaKey& pair : owned_pairs(state, intent.target.name)) {
    const auto amount = amount_in(expected->groups, aliases, pair);
    // The write has carried another writer's value along.
    const bool left =
        queue.contested.contains(pair) && amount == amount_in(intent.overlaid, aliases, pair);
    if (amount && !left) queue.written[pair] = *amount;
  }
  requote(state.queues, intent.target.name);
  mark_deleted_claims_dirty(state.claims, intent.target.name);
}

void note_queue_seen_since(QueueRoom state, const std::string& name) {
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end() || !at->second.written_groups) return;
  Queue& queue = at->second;
  if (queue.facts.groups == *queue.written_groups) return;
  // A write is accepted only if the queue still had the version that it names. So every observation
  // since it was sent shows what became of it, and the first that had other values than our write
  // before counted the overwrite. None did where this write took the pair back or made it ours, or
  // where the other writer restored the values of our write before.
  if (queue.overwrite_seq > queue.written_at.seq)
    remember_lending(state.configuration, queue);
  else
    count_overwrite(state, name, queue, *queue.written_groups, state.seq);
  end_contests(state, name, queue);
  mark_queue_dirty(state.queues, name);
  mark_queue_claims_dirty(state.claims, name);
}

namespace {

std::set<QuotaKey> pairs_of_claims(QueueReader state, const std::string& queue) {
  std::set<QuotaKey> pairs;
  const AssignmentRow* last = nullptr;  // claims mostly name the same pairs: saves set lookups
  if (const auto claims = state.claims.of_queue.find(queue); claims != state.claims.of_queue.end())
    for (const std::string& name : claims->second)
      for (const AssignmentRow& row : state.claims.by_name.at(name).terms->rows) {
        if (row.cluster_queue != queue) continue;
        if (last && last->flavor == row.flavor && last->resource == row.resource) continue;
        pairs.insert({row.flavor, row.resource});
        last = &row;
      }
  return pairs;
}

// Returns the same, derived again only after a claim or the configuration changed.
const std::set<QuotaKey>& pairs_of_claims(QueueReader state, const std::string& name,
                                          Queue& queue) {
  auto& [pairs, as_of] = *queue.claimed;
  if (as_of != *state.claims.terms_changes + 1) pairs = pairs_of_claims(state, name);
  as_of = *state.claims.terms_changes + 1;
#ifndef NDEBUG
  check(pairs == pairs_of_claims(state, name), "the pairs that claims name had changed");
#endif
  return pairs;
}

// Where the queue follows workers, adds their pairs and the pairs of the queue's list.
void add_pairs_of_workers(QueueReader state, const std::string& queue, std::set<QuotaKey>& pairs) {
  const WorkerQuota* workers = followed(state.queues, queue);
  if (!workers) return;
  for (const ResourceGroup& group : state.queues.by_name.at(queue).facts.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        pairs.insert(
            {flavor.name, canonical_resource(state.configuration.resource_aliases, quota.name)});
  for (const auto& [cluster, share] : workers->shares)
    if (share.counted)
      for (const auto& [pair, value] : share.values) pairs.insert(pair);
}

}  // namespace

std::set<QuotaKey> named_pairs(QueueReader state, const std::string& queue) {
  std::set<QuotaKey> pairs = pairs_of_claims(state, queue);
  add_pairs_of_workers(state, queue, pairs);
  return pairs;
}

std::set<QuotaKey> owned_pairs(QueueReader state, const std::string& queue) {
  std::set<QuotaKey> pairs = named_pairs(state, queue);
  if (const auto at = state.queues.by_name.find(queue); at != state.queues.by_name.end())
    for (const auto& [pair, amount] : at->second.written) pairs.insert(pair);
  return pairs;
}

void recompute_pairs(QueueRoom state, const std::string& name) {
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end() || !at->second.present) return;
  Queue& queue = at->second;
  // A copy: what is remembered about the claims does not include the pairs of the workers.
  std::set<QuotaKey> named = pairs_of_claims(state, name, queue);
  add_pairs_of_workers(state, name, named);
  const auto current = [&](const QuotaKey& pair) {
    return amount_in(queue.facts.groups, state.configuration.resource_aliases, pair);
  };
  for (const QuotaKey& pair : named) {
    if (queue.written.contains(pair)) continue;
    const auto amount = current(pair);
    take_over(state, name, pair, amount.value_or(0));
    if (!amount) continue;
    const HubQuota quota = hub_quota(state, name, pair, Parts::summed);
    if (quota.unknown || *amount != quota.nominal) continue;
    queue.written[pair] = quota.nominal;
    note_quota_change(state.queues, name);
  }
  // A pair that is no longer named stays ours until it has the quota without it: the write that
  // takes our part back is still due.
  const std::size_t given_up = std::erase_if(queue.written, [&](const auto& entry) {
    if (named.contains(entry.first)) return false;
    const auto amount = current(entry.first);
    return !amount || *amount == hub_quota(state, name, entry.first, Parts::summed).nominal;
  });
  // A grant may have become what the other writer left.
  if (end_contests(state, name, queue) || given_up > 0) note_quota_change(state.queues, name);
}

namespace {

// The promise where this log has not written the queue: a process with an earlier log may have, and
// the grants in the claims' statuses are what it promised.
Amount promised_before(QueueReader state, const std::string& queue, const std::string& cluster,
                       const QuotaKey& pair) {
  Amount most = 0;
  const auto claims = state.claims.of_cluster.find(cluster);
  if (claims == state.claims.of_cluster.end()) return most;
  for (const std::string& name : claims->second)
    for (const ClaimGrant& grant : state.claims.by_name.at(name).facts.status_grants) {
      if (grant.cluster_queue != queue || grant.flavor != pair.flavor) continue;
      if (canonical_resource(state.configuration.resource_aliases, grant.resource) != pair.resource)
        continue;
      if (const auto quantity = Quantity::parse(grant.granted))
        most = std::max(most, to_amount(pair.resource, *quantity));
    }
  return most;
}

}  // namespace

Amount HubQuotas::promised(const std::string& queue, const std::string& cluster,
                           const QuotaKey& pair) {
  const auto at = state_.queues.by_name.find(queue);
  if (at == state_.queues.by_name.end() || !at->second.present) return 0;
  const auto current =
      amount_in(at->second.facts.groups, state_.configuration.resource_aliases, pair);
  const HubQuota& quota = of(queue, pair);
  Amount most = part_of(quota.contributions, cluster, pair);
  // Under an orchestrator the spec's quota is not in force and may never change, so it promises
  // nothing.
  if (orchestration_of(state_.queues, at->second)) return most;
  if (const Outstanding* outstanding = outstanding_of(state_.writes, queue))
    most = std::max(most, part_of(outstanding->intent.contributions, cluster, pair));
  else if (!current || *current <= quota.nominal)
    return most;  // the hub promises no more than what is contributed now
  if (at->second.written_groups)
    return std::max(most, part_of(at->second.contributed, cluster, pair));
  return std::max(most, promised_before(state_, queue, cluster, pair));
}

bool quota_automated(const MultiKueue& multikueue, const Queue& queue) {
  return std::any_of(
      queue.facts.admission_checks.begin(), queue.facts.admission_checks.end(),
      [&](const std::string& name) {
        const auto& checks = multikueue.checks;
        const auto check = checks.find(name);
        if (check == checks.end()) return false;
        const AdmissionCheckFacts& facts = check->second.seen.facts;
        const bool by_name = facts.parameters_kind == "MultiKueueConfig";
        if (!by_name && !check->second.ours) return false;
        const auto& configs = multikueue.configs;
        const auto config = configs.find(by_name ? facts.parameters_name : check->second.placement);
        return config != configs.end() && config->second.facts.quota_management == "Automated";
      });
}

}  // namespace fairlead
