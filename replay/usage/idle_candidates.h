// Queues by what they were granted and did not use, and the Workloads that wait there and would
// have fitted.
#pragma once

#include <string>
#include <vector>

#include "engine/base/json.h"
#include "replay/usage/usage_report.h"

namespace fairlead {

struct State;

/// A pair of a hub queue, and the Workloads that its idle quota would have let run.
struct IdlePair {
  UsageRowKey key;
  UsageTotals totals;
  std::vector<NamespacedName> workloads;  ///< in the order in which they were let in
};

/// Returns the pairs of the hub's queues that were idle, by resource and flavor, the idlest first.
///
/// `report` is by queue and has one period; `state` is that after its last event. What a pair left
/// idle on average may be used, by the Workloads of the queue that wait then, the one created first
/// first: one fits if, of each resource that it requests, one flavor of the queue has enough left,
/// and takes it from the flavor that has most. Which flavors its pods tolerate is not considered.
std::vector<IdlePair> idle_candidates(const UsageReport& report, const State& state);

/// Prints them as the document IdleCandidates of ui/answers.d.ts, and as a table in hours.
Json idle_json(const UsageReport& report, const std::vector<IdlePair>& pairs, UsageUnit unit);
std::string idle_text(const UsageReport& report, const std::vector<IdlePair>& pairs);

}  // namespace fairlead
