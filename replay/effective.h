// What Kueue's scheduler uses instead of the spec's quota (status.effectiveQuotas, Kueue 0.20), at
// a moment and over time. Internal to the audit.
//
// "effective" of a pair: a list, empty while the spec is in force, of what the queue shows and then
// each Cohort above it, the nearest first:
//   {"kind" "ClusterQueue"|"Cohort", "name", "nominal", "borrowingLimit", "lendingLimit" (null: the
//    override has no such pair, or no limit), "orchestrator" {"apiGroup", "kind", "name"}, "seq"}
// The first entry of kind ClusterQueue is the quota in force, and the spec's nominalQuota beside it
// a weight. A Cohort's entry is the Cohort's own quota; it says that an orchestrator divides below.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/state.h"
#include "replay/audit_moment.h"

namespace fairlead {

Json effective_json(const State& state, const KnownPair& pair);
/// The pairs of the queue that its override has and its spec does not.
std::vector<KnownPair> pairs_of_override(const State& state, const std::string& queue);

/// Changes of what the queue itself shows, between two events: [{"seq", "time", "flavor",
/// "resource", "old", "new" (null: no such pair, or no override), "orchestrator" (null: the spec is
/// in force again)}]. Where an override without pairs comes or goes, flavor and resource are null.
Result<std::vector<Json>> effective_changes(const AuditSource& source, const std::string& queue,
                                            Seq from, Seq to);

/// "20 (DynamicQuotaOrchestrator.kueue.x-k8s.io production)" of an entry; "none" for a pair that
/// the override does not have.
std::string effective_text(const Json& entry);
/// "effective", or "effective of Cohort NAME".
std::string effective_name(const Json& entry);
/// The same with its event and what it means.
std::string effective_sentence(const Json& entry);

}  // namespace fairlead
