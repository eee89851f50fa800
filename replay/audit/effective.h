// The quota that Kueue's scheduler uses instead of the spec's (status.effectiveQuotas, Kueue 0.20),
// at a moment and over time. Internal to the audit.
//
// "effective" of a pair is a list, empty while the spec is in force: the queue's own override, then
// that of each Cohort above it, the nearest first:
//   {"kind" "ClusterQueue"|"Cohort", "name", "nominal", "borrowingLimit", "lendingLimit" (null: the
//    override has no such pair, or no limit), "orchestrator" {"apiGroup", "kind", "name"}, "seq"}
// An entry of kind ClusterQueue is the quota in force; the spec's nominalQuota beside it is only a
// weight. A Cohort's entry is the Cohort's own quota; it shows that an orchestrator divides below.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/state.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/audit_span.h"

namespace fairlead {

Json effective_json(const State& state, const KnownPair& pair);
/// Returns the pairs of the queue that its override has and its spec does not.
std::vector<KnownPair> pairs_of_override(const State& state, const std::string& queue);

/// Returns the changes of the own override of a ClusterQueue or Cohort in a span: [{"seq", "time",
/// "flavor", "resource", "old", "new" (null: no such pair, or no override), "orchestrator" (null:
/// the spec is in force again)}]. Where an override without pairs appears or disappears, flavor and
/// resource are null.
Result<std::vector<Json>> effective_changes(const AuditSource& source, const ObjectKey& key,
                                            const EventSpan& span, EventLookup& lookup);

/// The text of an entry: "20 (DynamicQuotaOrchestrator.kueue.x-k8s.io production)"; "none" for a
/// pair that the override does not have.
std::string effective_text(const Json& entry);
/// "effective", or "effective of Cohort NAME".
std::string effective_name(const Json& entry);
/// effective_text with the event that set it and what the entry means.
std::string effective_sentence(const Json& entry);

}  // namespace fairlead
