#include "engine/fold/multikueue/nominations.h"

#include <algorithm>

#include "engine/fold/dispatch/dispatch_close.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/multikueue/names.h"

namespace fairlead {

namespace {

const WorkerList& list_of(const MultiKueue& multikueue, const std::string& placement) {
  static const WorkerList none;
  const auto list = multikueue.lists.find(placement);
  return list == multikueue.lists.end() ? none : list->second;
}

bool waits_for_a_cluster(const WorkloadFacts& facts) {
  return facts.quota_reserved && !facts.evicted && !facts.finished && facts.cluster_name.empty();
}

std::set<std::string> long_away(MultiKueueReader state, const WorkerList& list) {
  std::set<std::string> away;
  for (const std::string& name : list.names) {
    const auto worker = list.workers.find(name);
    if (worker == list.workers.end() || worker->second.selected) continue;
    if (worker->second.since + list.windows.move_window <= state.now) away.insert(name);
  }
  return away;
}

}  // namespace

std::optional<Clearer> clearer_of_nominations(MultiKueueReader state) {
  const ClearedBy by = state.configuration.multikueue.cleared_by;
  if (by != ClearedBy::policy) return Clearer{by, ""};
  const auto& policies = state.multikueue.clearing_policies;
  if (policies.empty()) return std::nullopt;
  return Clearer{by, *policies.begin()};
}

void recompute_nomination(MultiKueueRoom state, const NamespacedName& id) {
  const auto at = state.multikueue.workloads.find(id);
  if (at == state.multikueue.workloads.end()) return;
  WorkloadRecord& record = at->second;
  const auto seen = record.seen.read();
  const WorkloadFacts& facts = seen->facts;
  const CheckRecord* check = check_of(state.multikueue, facts);
  const bool ours = state.configuration.multikueue.dispatcher && waits_for_a_cluster(facts) &&
                    check && check->good && clearer_of_nominations(state);
  if (ours != record.decision->nominates) record.decision.edit().nominates = ours;
  if (takes_over(state, id, facts, record)) return;
  if (!ours) return;
  const WorkerList& list = list_of(state.multikueue, check->placement);
  const std::set<std::string> away = long_away(state, list);
  WorkloadDecision& decision = record.decision.edit();
  std::erase_if(decision.judged_away, [&](const std::string& one) { return !away.contains(one); });
  const auto& current = facts.nominated_clusters;
  const bool first = !decision.judged_list;
  const bool same = first || (*decision.judged_list == list.names && decision.judged_away == away);
  if (!current.empty() &&
      list.wish) {  // waits for the new list, which would change the nomination again
    decision.nomination = current;
    return;
  }
  if (!current.empty() && same) {
    decision.nomination = current;
    if (first) decision.judged_away = away;
  } else {
    decision.nomination.clear();
    for (const std::string& name : list.names)
      // refresh_names() makes a worker of each name in the list.
      if (list.workers.at(name).selected && decision.nomination.size() < kNominatedMax)
        decision.nomination.push_back(name);
    decision.judged_away = away;
  }
  decision.judged_list = list.names;
}

}  // namespace fairlead
