#include "replay/timeline/moment_values.h"

#include <algorithm>
#include <set>

#include "engine/fold/queues/queues.h"
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

bool is_over_quota(const State& state, const std::string& queue) {
  const auto pairs = pairs_of_queue(state, queue);
  return std::any_of(pairs.begin(), pairs.end(), [&](const KnownPair& pair) {
    const auto nominal = current_nominal(state, pair);
    const Int128 used = used_of(state.queues.by_name.at(queue), pair);
    return nominal && used != kNoValue && used > *nominal;
  });
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
  if (const WorkerQuota* workers = followed(state, pair.queue))
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

std::string_view words_of(Condition condition) {
  switch (condition) {
    case Condition::conflict: return "conflict";
    case Condition::lost: return "lost";
    case Condition::over_quota: return "over quota";
    case Condition::held: return "held";
    case Condition::unknown: return "unknown";
    case Condition::growing: return "growing";
    case Condition::detached: return "detached";
    case Condition::steady: return "steady";
  }
  return "";
}

Condition condition_of_cluster(const Cluster& cluster) {
  if (cluster.presence.detached) return Condition::detached;
  if (cluster.lost()) return Condition::lost;
  if (!cluster.known) return Condition::unknown;
  Condition worst = Condition::steady;
  for (const auto& [key, value] : cluster.capacity)
    worst = std::min(worst, condition_of_value(cluster, value.damped));
  return worst;
}

std::vector<Condition> conditions_of_queue(const State& state, const std::string& queue) {
  std::set<Condition> found;
  const auto at = state.queues.by_name.find(queue);
  if (at != state.queues.by_name.end() && at->second.present) {
    if (!at->second.contested.empty()) found.insert(Condition::conflict);
    if (is_over_quota(state, queue)) found.insert(Condition::over_quota);
  }
  if (const auto claims = state.claims.of_queue.find(queue); claims != state.claims.of_queue.end())
    for (const std::string& name : claims->second) {
      const auto cluster = state.clusters.find(state.claims.by_name.at(name).terms->cluster);
      if (cluster != state.clusters.end()) found.insert(condition_of_cluster(cluster->second));
    }
  if (found.size() > 1) found.erase(Condition::steady);
  if (found.empty()) found.insert(Condition::steady);
  return {found.begin(), found.end()};
}

}  // namespace fairlead
