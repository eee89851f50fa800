// Finds stretches of the past in which changes could not be observed, as far as the log shows: no
// hub ran, or a source of an answer was silent. Every answer and report about the past has this
// list.
//
// A hub that observes no change appends nothing, so the log has only two ends of a stop: the last
// event before it and the EpochStarted after it. No hub ran for some part of that time; what
// changed meanwhile is in the log after the start, at the time of the first list that showed it.
// For a source the log has SourceStale or SourceLost, and SourceSynced when it reports again.
// Silence is noticed after staleAfter, so it begins that much before SourceStale.
#pragma once

#include <set>
#include <string>

#include "replay/audit/audit_moment.h"

namespace fairlead {

/// The sources of the facts of an answer.
struct AnswerSources {
  std::set<std::string> members;          ///< members whose Nodes are watched, and tenants
  std::set<Kind> hub_kinds;               ///< read on the hub
  std::set<std::string> reported_by_hub;  ///< members whose ManagedCluster must be Available
};

/// The sources of every answer: ClusterQueues and claims.
AnswerSources sources_of_every_quota();
/// The same and the sources of the worker lists.
AnswerSources sources_of_workers();
/// The sources of the placements of a tenant: its API server and the VirtualClusters of the hub.
AnswerSources sources_of_tenant(const std::string& tenant);
/// The same and the super clusters.
AnswerSources sources_of_placements(const State& state, const std::string& tenant);
/// Adds the clusters that give quota to `queue`.
void add_sources(const State& state, const std::string& queue, AnswerSources& sources);
/// Adds a cluster: the source in force for it.
void add_cluster_source(const State& state, const std::string& cluster, AnswerSources& sources);

/// Returns "unseen" of an answer about a moment, ascending (Unseen in ui/answers.d.ts). Reads only
/// the signs of the sources and a few events around them.
Result<Json> unseen_at(const AuditSource& source, const Moment& moment,
                       const AnswerSources& sources);

/// Adds "unseen" to an answer about a pair.
Result<void> add_unseen(const AuditSource& source, const PairAtMoment& at, Json& answer);

/// A span of events.
struct AskedSpan {
  Seq begin;
  Seq end;
  LogTime to;  ///< the latest moment that was asked for
};
/// Returns "unseen" of an answer about everything in a span: each stretch that overlaps it.
Result<Json> unseen_between(const AuditSource& source, const AskedSpan& span,
                            const AnswerSources& sources);

/// Does so for everything that a hub did in a span, for `whatif` and `replay --verify`. The sources
/// are every quota's and every cluster's that `at_end` knows and, if there are worker lists, the
/// lists'.
Result<Json> unseen_of_all(const AuditSource& source, const AskedSpan& span, const State& at_end);

/// Appends the rows of `more` that are not in `rows` yet.
void join_unseen(Json& rows, const Json& more);

/// Renders a line for each stretch; empty if there is none.
std::string unseen_text(const Json& document);

}  // namespace fairlead
