// Stretches of the past in which changes could not be seen, as far as the log tells: no hub ran, or
// a source that an answer rests on was silent. Every answer and report about the past says so by
// this list.
//
// A hub that hears nothing new logs nothing, so of a stop the log has two ends only: the last event
// before it and the EpochStarted behind it. No hub ran for some part of that time; what changed
// meanwhile is in the log behind the start, at the time of the first list that showed it. Of a
// source the log has SourceStale or SourceLost, and SourceSynced when it is heard again. Silence is
// noticed when it has lasted for staleAfter, so it begins that much before SourceStale.
#pragma once

#include <set>
#include <string>

#include "replay/audit_moment.h"

namespace fairlead {

/// Whose facts an answer rests on.
struct AnswerSources {
  std::set<std::string> members;          ///< whose Nodes are watched
  std::set<Kind> hub_kinds;               ///< read on the hub
  std::set<std::string> reported_by_hub;  ///< members whose ManagedCluster must be Available
};

/// What every answer rests on: ClusterQueues and claims.
AnswerSources sources_of_every_quota();
/// The same and what the worker lists are made of.
AnswerSources sources_of_workers();
/// Adds the clusters that give quota to `queue`.
void add_sources(const State& state, const std::string& queue, AnswerSources& sources);
/// Adds a cluster: the source in force for it.
void add_cluster_source(const State& state, const std::string& cluster, AnswerSources& sources);

/// "unseen" of an answer about a moment, ascending: [{"what" "NoHub"|"LogEnded"|"Silent"|
/// "NotAvailable", "source" (null: of all), "kind" (null: of all), "from" {"seq", "time"} (null: it
/// began before the first event that is kept), "since" (when the silence began, if that is earlier
/// than it was noticed; else null), "to" {"seq", "time"} (null: it lasts to the end of the log),
/// "text"}]. Reads the signs of the sources and a few events around them, nothing else.
Result<Json> unseen_at(const AuditSource& source, const Moment& moment,
                       const AnswerSources& sources);

/// Adds "unseen" to an answer about a pair.
Result<void> add_unseen(const AuditSource& source, const PairAtMoment& at, Json& answer);

/// A span of events.
struct AskedSpan {
  Seq begin;
  Seq end;
  LogTime to;  ///< behind which no moment was asked for
};
/// "unseen" of an answer about everything in a span: each stretch that reaches into it.
Result<Json> unseen_between(const AuditSource& source, const AskedSpan& span,
                            const AnswerSources& sources);

/// The same of all that a hub did in a span, for `whatif` and `replay --verify`: it rests on what
/// every quota and every cluster that `at_end` knows rests on and, where there are worker lists, on
/// what these are made of.
Result<Json> unseen_of_all(const AuditSource& source, const AskedSpan& span, const State& at_end);

/// Those of `more` that are not in `rows` yet, behind them.
void join_unseen(Json& rows, const Json& more);

/// A line each for people; nothing where everything was seen.
std::string unseen_text(const Json& document);

}  // namespace fairlead
