// The answers of /ui/api/overview and /ui/api/series: a Timeline as JSON.
//
// Amounts are canonical Quantity text and times RFC 3339, as in the answers of the audit. A step is
// an array: [time, seq, value (null: none)], of "nominal" with the writer ("fairlead", "foreign")
// behind it. It holds from its time to that of the next step.
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
/// [names], "selected" [names], "wish" [names] (null: it need not change)}].
Json overview_answer(const Timeline& timeline, const TimelineSpan& span, std::size_t buckets);

/// A queue or a cluster, and of it only this flavor or resource where they are not empty.
struct SeriesQuestion {
  std::string queue;
  std::string cluster;  ///< instead of `queue`
  std::optional<std::string> flavor;
  std::optional<std::string> resource;
};
/// Returns a Series: "from", "to", "queue" or "cluster", and "pairs" [{"flavor", "resource",
/// "reduced" (steps were left out: between two others may have been), "lines" {name: [step]}}].
/// Each line begins with the step in force at "from" and has at most `points` steps, the extremes
/// of each stretch among them. Fails with `bad_input` if there never was such a queue, cluster,
/// flavor or resource; it names what there was.
Result<AuditAnswer> series_answer(const Timeline& timeline, const SeriesQuestion& question,
                                  const TimelineSpan& span, std::size_t points);

}  // namespace fairlead
