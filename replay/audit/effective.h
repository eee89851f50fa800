// The quota that Kueue's scheduler uses instead of the spec's (status.effectiveQuotas, Kueue 0.20),
// at a moment and over time. Internal to the audit.
// Fields: Effective and EffectiveChange in ui/answers.d.ts.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/state.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/audit_span.h"

namespace fairlead {

/// "effective" of a pair.
Json effective_json(const State& state, const KnownPair& pair);
/// Returns the pairs of the queue that its override has and its spec does not.
std::vector<KnownPair> pairs_of_override(const State& state, const std::string& queue);

/// Returns the changes of the own override of a ClusterQueue or Cohort in a span: EffectiveChange.
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
