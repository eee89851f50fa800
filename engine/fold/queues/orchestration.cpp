#include "engine/fold/queues/orchestration.h"

#include <algorithm>

#include "engine/fold/queues/queue_state.h"
#include "engine/fold/queues/queues.h"

namespace fairlead {

std::vector<std::string> cohorts_above(const QueueTables& queues, const Queue& queue) {
  std::vector<std::string> names;
  std::string name = queue.facts.cohort;
  // A cycle of Cohorts ends the walk: the API server does not reject one.
  while (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
    const auto at = queues.cohorts.find(name);
    if (at == queues.cohorts.end()) break;
    name = at->second.facts.parent;
  }
  return names;
}

std::optional<Orchestration> orchestration_of(const QueueTables& queues, const Queue& queue) {
  if (queue.facts.effective)
    return Orchestration{queue.facts.effective->orchestrator, "", queue.seq};
  if (queue.facts.cohort.empty() || queues.cohorts.empty()) return std::nullopt;
  for (const std::string& name : cohorts_above(queues, queue)) {
    const auto at = queues.cohorts.find(name);
    if (at != queues.cohorts.end() && at->second.facts.effective)
      return Orchestration{at->second.facts.effective->orchestrator, name, at->second.seq};
  }
  return std::nullopt;
}

std::string text_of(const OrchestratorRef& orchestrator) {
  const std::string group = orchestrator.api_group.empty() ? "" : "." + orchestrator.api_group;
  if (!orchestrator.kind.empty() && !orchestrator.name.empty())
    return orchestrator.kind + group + " " + orchestrator.name;
  if (!orchestrator.name.empty()) return "an orchestrator named " + orchestrator.name;
  if (!orchestrator.kind.empty()) return orchestrator.kind + group + " without a name";
  return "an orchestrator that is not named";
}

std::string text_of(const Orchestration& orchestration) {
  const bool own = orchestration.cohort.empty();
  if (orchestration.by.kind.empty() && orchestration.by.name.empty())
    return "an orchestrator that " + (own ? "the queue" : "Cohort " + orchestration.cohort) +
           " does not name";
  return text_of(orchestration.by) + (own ? "" : " (Cohort " + orchestration.cohort + ")");
}

void observe_cohort(StateView<QueueTables> state, const std::string& name, const CohortFacts* facts,
                    Seq seq) {
  // A rule reads neither its quotas nor its weight: an edit of these plans no queue again.
  const auto known = state.queues.cohorts.find(name);
  const bool same_rule = facts && known != state.queues.cohorts.end() &&
                         known->second.facts.parent == facts->parent &&
                         known->second.facts.effective == facts->effective;
  if (facts)
    state.queues.cohorts[name] = {*facts, seq};
  else
    state.queues.cohorts.erase(name);
  if (same_rule) return;
  for (auto& [queue_name, queue] : state.queues.by_name) {
    if (!queue.present || queue.facts.cohort.empty()) continue;
    const std::vector<std::string> above = cohorts_above(state.queues, queue);
    if (std::find(above.begin(), above.end(), name) == above.end()) continue;
    if (orchestration_of(state.queues, queue)) resolve_conflict(state.queues, queue_name);
    mark_queue_dirty(state.queues, queue_name);
  }
}

}  // namespace fairlead
