// Quota orchestrators: other controllers that decide the quota of a hub ClusterQueue.
//
// Since Kueue 0.20 (KEP-12382, gate DynamicQuotaOrchestration) a ClusterQueue or Cohort may have
// status.effectiveQuotas: Kueue's scheduler then uses its groups instead of the spec's, and the
// spec's quotas are the weights by which an orchestrator divides capacity. The API does not report
// whether the gate is on: the field counts wherever it is present, also after its orchestrator is
// gone, as in Kueue.
//
// An orchestrator divides over a subtree: the Cohort that it names, the Cohorts below and every
// ClusterQueue in them, each of which then has the field. So the specs of all queues below a Cohort
// with the field are weights, even the spec of a queue that joined a moment ago and has no field
// yet. Fairlead does not write a queue that has the field or is below a Cohort that has it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/fold/queues/queue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// The orchestrator of a queue, and the object whose status reports it.
struct Orchestration {
  OrchestratorRef by;
  std::string cohort;  ///< that has the field; empty: the queue itself has it
  Seq seq;             ///< of the newest observation of that object
};

/// Returns the Cohorts above a hub queue, the nearest first, as far as they are known; each once.
std::vector<std::string> cohorts_above(const QueueTables& queues, const Queue& queue);

/// Returns the orchestrator that sets the queue's quota instead of its spec; nullopt if there is
/// none. The queue's own status precedes a Cohort's.
std::optional<Orchestration> orchestration_of(const QueueTables& queues, const Queue& queue);

/// Returns "DynamicQuotaOrchestrator.kueue.x-k8s.io production"; names what is missing where the
/// kind, the name or both are empty, as they are where the status has no orchestratorRef.
std::string text_of(const OrchestratorRef& orchestrator);
/// Returns the same with the Cohort that reports it: "... (Cohort research)". Without an
/// orchestratorRef it names the object that has none.
std::string text_of(const Orchestration& orchestration);

/// Folds an observation of a Cohort of the hub; `facts` is null if it is gone.
void observe_cohort(StateView<QueueTables> state, const std::string& name, const CohortFacts* facts,
                    Seq seq);

}  // namespace fairlead
