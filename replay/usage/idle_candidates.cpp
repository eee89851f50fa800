#include "replay/usage/idle_candidates.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/fold/usage/queue_use.h"
#include "replay/table.h"
#include "replay/usage/usage_amounts.h"
#include "schema/wait_reason.h"

namespace fairlead {

namespace {

// What the pairs of one queue have left, in milli-units, by resource and flavor.
using LeftOver = std::map<std::string, std::map<std::string, Int128>>;

struct WaitingWorkload {
  LogTime created;
  NamespacedName id;
  ResourceAmounts requests;
};

// Returns whether the Workload could run if its queue had more quota. It could not if somebody
// holds it back, or if its queue or its spec needs a correction.
bool may_be_let_in(const WorkloadFacts& facts) {
  if (!facts.progress || facts.finished || facts.quota_reserved) return false;
  const WaitClass of = wait_reason_of(facts).of;
  return of != WaitClass::hold && of != WaitClass::config;
}

// The Workloads that wait at a queue for its quota, the oldest first.
std::map<std::string, std::vector<WaitingWorkload>> waiting_by_queue(const State& state) {
  std::map<std::string, std::vector<WaitingWorkload>> waiting;
  for (const auto& [id, record] : state.multikueue.workloads) {
    const auto seen = record.seen.read();
    const WorkloadFacts& facts = seen->facts;
    if (!may_be_let_in(facts)) continue;
    const auto local = state.queues.local.find({id.first, facts.progress->queue});
    if (local == state.queues.local.end()) continue;
    waiting[local->second.cluster_queue].push_back({facts.created, id, facts.progress->requests});
  }
  for (auto& [queue, workloads] : waiting)
    std::sort(workloads.begin(), workloads.end(), [](const auto& a, const auto& b) {
      return std::tie(a.created, a.id) < std::tie(b.created, b.id);
    });
  return waiting;
}

// Takes what a Workload requests; empty if something is lacking, and then nothing is taken.
std::vector<UsePair> take_requests(LeftOver& left, const ResourceAmounts& requests) {
  std::vector<std::pair<UsePair, Int128>> taken;
  for (const auto& [name, amount] : requests) {
    const std::string resource(name);
    const Int128 needed = milli_units(resource, amount);
    const auto flavors = left.find(resource);
    if (flavors == left.end()) return {};
    const auto most =
        std::max_element(flavors->second.begin(), flavors->second.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == flavors->second.end() || most->second < needed) return {};
    taken.push_back({{most->first, resource}, needed});
  }
  std::vector<UsePair> pairs;
  for (const auto& [pair, needed] : taken) {
    left[pair.second][pair.first] -= needed;
    pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace

std::vector<IdlePair> idle_candidates(const UsageReport& report, const State& state) {
  std::map<std::string, LeftOver> left;
  std::map<std::pair<std::string, UsePair>, std::vector<NamespacedName>> let_in;
  for (const UsageReportRow& row : report.rows) {
    const Millis known = row.totals.existed - row.totals.unknown;
    if (row.key.side == kHubSide && known > 0)
      left[row.key.key][row.key.resource][row.key.flavor] += row.totals.sums.idle / known;
  }
  for (const auto& [queue, workloads] : waiting_by_queue(state))
    for (const WaitingWorkload& workload : workloads)
      for (const UsePair& pair : take_requests(left[queue], workload.requests))
        let_in[{queue, pair}].push_back(workload.id);
  std::vector<IdlePair> pairs;
  for (const UsageReportRow& row : report.rows)
    if (row.key.side == kHubSide && row.totals.sums.idle > 0)
      pairs.push_back(
          {row.key, row.totals, let_in[{row.key.key, {row.key.flavor, row.key.resource}}]});
  std::sort(pairs.begin(), pairs.end(), [](const IdlePair& a, const IdlePair& b) {
    return std::tie(a.key.resource, a.key.flavor, b.totals.sums.idle, a.key) <
           std::tie(b.key.resource, b.key.flavor, a.totals.sums.idle, b.key);
  });
  return pairs;
}

Json idle_json(const UsageReport& report, const std::vector<IdlePair>& pairs, UsageUnit unit) {
  Json rows = Json::array();
  for (const IdlePair& pair : pairs) {
    Json row = usage_key_json(pair.key);
    row["granted"] = usage_amount(unit, pair.totals.sums.granted);
    row["idle"] = usage_amount(unit, pair.totals.sums.idle);
    row["workloads"] = Json::array();
    for (const NamespacedName& id : pair.workloads)
      row["workloads"].push_back({{"namespace", id.first}, {"name", id.second}});
    rows.push_back(std::move(row));
  }
  Json document = usage_head_json(report, unit);
  document["rows"] = std::move(rows);
  return document;
}

std::string idle_text(const UsageReport& report, const std::vector<IdlePair>& pairs) {
  std::vector<TableRow> table{
      {"RESOURCE", "FLAVOR", "QUEUE", "GRANTED", "IDLE", "WOULD HAVE FITTED"}};
  for (const IdlePair& pair : pairs) {
    std::string names;
    for (const NamespacedName& id : pair.workloads)
      names.append(names.empty() ? "" : ", ").append(id.first).append("/").append(id.second);
    table.push_back({pair.key.resource, pair.key.flavor, pair.key.key,
                     usage_amount(UsageUnit::hours, pair.totals.sums.granted),
                     usage_amount(UsageUnit::hours, pair.totals.sums.idle), names});
  }
  return usage_head_text(report) + table_text(table) + usage_foot_text(report);
}

}  // namespace fairlead
