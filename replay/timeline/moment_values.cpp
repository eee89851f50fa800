#include "replay/timeline/moment_values.h"

#include <algorithm>
#include <set>

#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/claims/claim_status.h"
#include "replay/audit/explain.h"

namespace fairlead {

namespace {

Int128& line(PairValues& values, PairLine which) {
  return values.at(static_cast<std::size_t>(which));
}

// Several rows may name one cluster, which offers to the pair once.
void add_claims(const State& state, const KnownPair& pair, PairValues& values,
                CapacityParts& parts) {
  for (const GrantOfPair& grant : grants_of_pair(state, pair)) {
    add_to(line(values, PairLine::assigned), grant.grant->row.assigned);
    add_to(line(values, PairLine::granted), grant.grant->granted);
    const auto cluster = state.clusters.find(grant.claim->terms->cluster);
    if (cluster == state.clusters.end() || parts.contains(cluster->first)) continue;
    const CapacityValues part = capacity_of_row(cluster->second, grant.grant->row);
    parts.emplace(cluster->first, part);
    for (std::size_t i = 0; i < part.size(); ++i)
      add_to(values.at(static_cast<std::size_t>(kCapacityOfPair.at(i))), part.at(i));
  }
}

void add_workers_of(const WorkerQuota& workers, const KnownPair& pair, PairValues& values) {
  for (const auto& [cluster, share] : workers.shares) {
    const auto at = share.values.find(pair.key);
    if (at == share.values.end()) continue;
    add_to(line(values, PairLine::usable), at->second.usable);
    add_to(line(values, PairLine::accepted), at->second.accepted);
  }
}

Int128 used_of(const Queue& queue, const KnownPair& pair) {
  for (const FlavorUsage& usage : queue.facts.usage)
    if (usage.flavor == pair.key.flavor && usage.resource == pair.spelled) return usage.total;
  return kNoValue;
}

Condition condition_of_value(const Cluster& cluster, const DampedValue& value) {
  const std::string word = capacity_state(cluster, value);
  if (word == "Lost") return Condition::lost;
  if (word == "Held" || word == "Stale" || word == "Shrinking") return Condition::held;
  if (word == "Unknown") return Condition::unknown;
  if (word == "Growing") return Condition::growing;
  return word == "Detached" ? Condition::detached : Condition::steady;
}

// What a write of ours is waiting for, if it is the last word about the object.
std::optional<Condition> condition_of_write(const State& state, const ObjectKey& object) {
  const WriteState* const write = write_of(state.writes, object);
  if (write == nullptr) return std::nullopt;
  if (write->outstanding) return Condition::unanswered;
  if (write->refusal && !is_conflict(*write->refusal)) return Condition::refused;
  return std::nullopt;
}

void add_pair_conditions(const State& state, const KnownPair& pair, std::set<Condition>& found) {
  const auto nominal = current_nominal(state, pair);
  const Queue& queue = state.queues.by_name.at(pair.queue);
  const Int128 used = used_of(queue, pair);
  if (nominal && used != kNoValue && used > *nominal) found.insert(Condition::over_quota);
  for (const GrantOfPair& grant : grants_of_pair(state, pair))
    if (grant.contributes < grant.grant->granted) found.insert(Condition::member_waited);
  if (!owned_pairs(state, pair.queue).contains(pair.key)) return;
  const HubQuota quota = hub_quota(state, pair.queue, pair.key, Parts::summed);
  if (quota.unknown)
    found.insert(Condition::unknown);
  else if (nominal.value_or(0) != quota.nominal && !queue.contested.contains(pair.key))
    found.insert(Condition::not_written);
}

void add_queue_conditions(const State& state, const std::string& name, const Queue& queue,
                          std::set<Condition>& found) {
  if (!queue.contested.empty()) found.insert(Condition::conflict);
  for (const KnownPair& pair : pairs_of_queue(state, name)) add_pair_conditions(state, pair, found);
  const auto write = condition_of_write(state, {Kind::cluster_queue, "", name});
  if (!write) return;
  found.insert(*write);
  found.erase(Condition::not_written);  // that is why
}

void add_claim_conditions(const State& state, const Claim& claim, std::set<Condition>& found) {
  if (claim.fault) found.insert(Condition::invalid_claim);
  if (!claim.terms) return;
  if (state.clusters.contains(claim.terms->cluster))
    found.insert(condition_of_cluster(state, claim.terms->cluster));
}

void add_share_conditions(const WorkerShare& share, std::set<Condition>& found) {
  if (share.liveness_at_close == Liveness::lost) found.insert(Condition::lost);
  if (share.liveness_at_close == Liveness::stale) found.insert(Condition::held);
  if (share.counted && !share.known) found.insert(Condition::unknown);
  for (const auto& [pair, value] : share.values) {
    if (value.accepted > value.usable) found.insert(Condition::held);
    if (value.accepted < value.usable) found.insert(Condition::growing);
  }
}

// As a super cluster of the pool: what it says to tenants.
Condition condition_of_offer(const State& state, const ClusterPool& pool, const std::string& name) {
  if (pool.liveness == Liveness::lost) return Condition::lost;
  if (!pool.known) return Condition::unknown;
  const auto id = state.pool.ids.find(name);
  const auto standing = id == state.pool.ids.end() ? state.pool.standings.end()
                                                   : state.pool.standings.find(id->second);
  if (standing == state.pool.standings.end()) return Condition::unknown;  // another has its id
  return standing->second == ClusterStanding::open ? Condition::steady : Condition::held;
}

}  // namespace

void add_to(Int128& sum, Int128 amount) {
  if (amount != kNoValue) sum = (sum == kNoValue ? 0 : sum) + amount;
}

CapacityValues capacity_of_row(const Cluster& cluster, const AssignmentRow& row) {
  CapacityValues sum;
  sum.fill(kNoValue);
  for (const auto& [key, value] : cluster.capacity) {
    if (key.resource != row.resource || (key.flavor != row.flavor && !key.flavor.empty())) continue;
    const CapacityValues values = capacity_values(value);
    for (std::size_t i = 0; i < values.size(); ++i) add_to(sum.at(i), values.at(i));
  }
  return sum;
}

PairValues pair_values(const State& state, const KnownPair& pair, CapacityParts& parts) {
  PairValues values;
  values.fill(kNoValue);
  parts.clear();
  add_claims(state, pair, values, parts);
  if (const WorkerQuota* workers = followed(state.queues, pair.queue))
    add_workers_of(*workers, pair, values);
  if (const auto nominal = current_nominal(state, pair)) line(values, PairLine::nominal) = *nominal;
  if (owned_pairs(state, pair.queue).contains(pair.key)) {
    const HubQuota quota = hub_quota(state, pair.queue, pair.key, Parts::summed);
    if (!quota.unknown) line(values, PairLine::desired) = quota.nominal;
  }
  const auto queue = state.queues.by_name.find(pair.queue);
  if (queue != state.queues.by_name.end() && queue->second.present)
    line(values, PairLine::used) = used_of(queue->second, pair);
  return values;
}

StepWriter writer_of(const State& state, const KnownPair& pair, Int128 nominal) {
  const auto queue = state.queues.by_name.find(pair.queue);
  if (queue == state.queues.by_name.end()) return StepWriter::foreign;
  const auto written = queue->second.written.find(pair.key);
  const bool ours = written != queue->second.written.end() && written->second == nominal;
  return ours ? StepWriter::fairlead : StepWriter::foreign;
}

CapacityValues capacity_values(const CapacityValue& value) {
  return {value.offered, value.damped.usable, value.damped.accepted};
}

WorkerValues worker_values(const WorkerList& list, const Worker& worker) {
  const bool frozen = worker.listed && list.frozen_since;
  const bool draining = worker.listed && !worker.selected && !frozen;
  return {worker.selected, worker.listed, draining, frozen};
}

std::string_view text_of(Condition condition) {
  switch (condition) {
    case Condition::conflict: return "conflict";
    case Condition::lost: return "lost";
    case Condition::missing: return "missing";
    case Condition::invalid_claim: return "claim not in force";
    case Condition::refused: return "write refused";
    case Condition::over_quota: return "over quota";
    case Condition::held: return "held";
    case Condition::unanswered: return "write unanswered";
    case Condition::not_written: return "not written";
    case Condition::member_waited: return "waits for a member";
    case Condition::unknown: return "unknown";
    case Condition::growing: return "growing";
    case Condition::detached: return "detached";
    case Condition::steady: return "steady";
  }
  return "";
}

// Capacity that no quota depends on need not be known, such as a MultiKueue worker's, or a super
// cluster's that offers all of it to the pool.
Condition condition_of_cluster(const State& state, const std::string& name) {
  const Cluster& cluster = state.clusters.at(name);
  if (cluster.presence.detached) return Condition::detached;
  if (cluster.lost()) return Condition::lost;
  Condition worst = cluster.hold || cluster.stale() ? Condition::held : Condition::steady;
  const bool claimed = state.claims.of_cluster.contains(name) || !cluster.capacity.empty();
  if (claimed && !cluster.known) worst = std::min(worst, Condition::unknown);
  for (const auto& [key, value] : cluster.capacity)
    worst = std::min(worst, condition_of_value(cluster, value.damped));
  if (cluster.pool.offered) worst = std::min(worst, condition_of_offer(state, cluster.pool, name));
  return worst;
}

std::vector<Condition> conditions_of_queue(const State& state, const std::string& queue) {
  std::set<Condition> found;
  const auto at = state.queues.by_name.find(queue);
  if (at == state.queues.by_name.end() || !at->second.present)
    found.insert(Condition::missing);
  else
    add_queue_conditions(state, queue, at->second, found);
  if (const auto claims = state.claims.of_queue.find(queue); claims != state.claims.of_queue.end())
    for (const std::string& name : claims->second)
      add_claim_conditions(state, state.claims.by_name.at(name), found);
  if (const WorkerQuota* workers = followed(state.queues, queue))
    for (const auto& [cluster, share] : workers->shares) add_share_conditions(share, found);
  if (found.size() > 1) found.erase(Condition::steady);
  if (found.empty()) found.insert(Condition::steady);
  return {found.begin(), found.end()};
}

std::string_view condition_of_list(const State& state, const std::string& placement) {
  const WorkerList& list = state.multikueue.lists.at(placement);
  if (list.frozen_since) return "frozen";
  // The MultiKueueConfig has the name of the Placement.
  if (const auto write = condition_of_write(state, {Kind::multikueue_config, "", placement}))
    return text_of(*write);
  return list.wish || list.dissolve ? "moving" : "steady";
}

}  // namespace fairlead
