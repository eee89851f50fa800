// Who else decides what quota a hub ClusterQueue has.
//
// Since Kueue 0.20 (KEP-12382, gate DynamicQuotaOrchestration) a ClusterQueue or Cohort may show
// status.effectiveQuotas: Kueue's scheduler then uses its groups instead of the spec's, and the
// spec's quotas are the weights by which an orchestrator divides capacity. Whether the gate is on
// cannot be seen: the field is believed wherever it stands, also after its orchestrator is gone, as
// Kueue does.
//
// An orchestrator divides over a subtree: the Cohort that it names, the Cohorts below and every
// ClusterQueue in them, each of which then has the field. So the specs of all queues below a Cohort
// that shows it are weights, also of one that joined a moment ago and shows nothing yet: Fairlead
// stands down for a queue that shows the field itself or stands below a Cohort that does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// What is known of it, and of which object.
struct Orchestration {
  OrchestratorRef by;
  std::string cohort;  ///< that shows it; empty: the queue itself does
  Seq seq;             ///< of the event that showed it last
};

/// The Cohorts above a hub queue, the nearest first, as far as they are known; each once.
std::vector<std::string> cohorts_above(const State& state, const Queue& queue);

/// Who sets the quota of the queue instead of its spec; nullopt: Fairlead may. What the queue
/// itself shows counts before what a Cohort does.
std::optional<Orchestration> orchestration_of(const State& state, const Queue& queue);

/// "DynamicQuotaOrchestrator.kueue.x-k8s.io production"; says what is missing where the kind, the
/// name or both are empty, as they are where the status has no orchestratorRef.
std::string text_of(const OrchestratorRef& orchestrator);
/// The same, and where it is shown if not by the queue: "... (Cohort research)". Where nothing is
/// named, which object leaves it out.
std::string text_of(const Orchestration& orchestration);

/// A Cohort of the hub; `facts` is null if it is gone.
void observe_cohort(State& state, const std::string& name, const CohortFacts* facts, Seq seq);

}  // namespace fairlead
