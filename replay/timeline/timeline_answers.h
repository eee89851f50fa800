// The answers of /ui/api/overview and /ui/api/series: a Timeline as JSON.
//
// Amounts are canonical Quantity text and times RFC 3339, as in the answers of the audit. A step is
// an array: [time, seq (null: of a what-if), value (null: none)], of "nominal" with the writer
// ("fairlead", "foreign") behind it. It holds from its time to that of the next step.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/base/json.h"
#include "replay/audit/audit.h"
#include "replay/timeline/timeline.h"

namespace fairlead {

/// What is asked for: a span of log time, both ends included.
struct TimelineSpan {
  LogTime from;
  LogTime to;
};

/// Returns an Overview: "from", "to", "bucketWidth" (a Go duration), "buckets" [[time, events,
/// ours, foreign, losses]], ascending, those without an event left out; "totals" (of the whole log)
/// with the same four names; "queues" [{"queue", "states" (the worst first), "pairs" [{"flavor",
/// "resource", "nominal", "desired", "used"}]}], the most troubled first; "clusters" [{"cluster",
/// "state", "source", "hold" {"since", "until"}, "capacity" [{"flavor", "resource", "offered",
/// "usable", "accepted"}]}]; "lists" [{"list", "state" ("frozen", "moving", "steady"), "listed"
/// [names], "selected" [names], "wish" [names] (null: it need not change)}]; "cohorts" [{"cohort",
/// "object" (false: ClusterQueues name it, and no object was seen), "parent", "weight" (null: none,
/// or not known), "queues" [names], "quotas" [{"flavor", "resource", "nominal", "borrowingLimit",
/// "lendingLimit"}]}]; "pool" (null: there is none) {"tenants", "superClusters", "namespaces",
/// "troubled" (namespaces that lack something), "pods", "waiting"}: how many (pool_answers.h has
/// them).
Json overview_answer(const Timeline& timeline, const TimelineSpan& span, std::size_t buckets);

/// A queue, a cluster, a worker list or, of the pool, a namespace (TENANT/NAME), a super cluster's
/// id or a tenant: one is not empty. Of the first two only this flavor or resource, where they are
/// given.
struct SeriesQuestion {
  std::string queue = {};
  std::string cluster = {};
  std::string list = {};
  std::optional<std::string> flavor = {};
  std::optional<std::string> resource = {};
  std::string namespace_ = {};
  std::string super_cluster = {};
  std::string tenant = {};
};
/// Returns a Series: "from", "to", "queue" or "cluster", and "pairs" [{"flavor", "resource",
/// "reduced" (steps were left out: between two others may have been), "leftOut" (this answer has
/// not all steps of its span: there are more than `points`), "lines" {name: [step]}}]. Of a worker
/// list "list" and instead of pairs "workers" [{"multiKueueCluster", "cluster", "reduced",
/// "lines"}] with true or false as values; null: the list does not know the name. Those of the
/// pool: pool_answers.h. Each line begins with the step in force at "from" and has at most `points`
/// steps, the extremes of each stretch among them. Fails with `bad_input` if there never was such a
/// queue, cluster, list, flavor or resource; it names what there was.
Result<AuditAnswer> series_answer(const ValueSeries& values, const ResourceAliases& aliases,
                                  const SeriesQuestion& question, const TimelineSpan& span,
                                  std::size_t points);
/// Returns whether steps are missing in a Series, because more happened than a Timeline keeps.
bool is_reduced(const Json& series);
/// Puts the lines of `exact`, the answer to the same question from values that were folded for its
/// span alone (exact_values()), in the place of those that were reduced.
void refine(Json& series, const Json& exact);

}  // namespace fairlead
