// The answers of /ui/api/overview and /ui/api/series: a Timeline as JSON. Fields:
// ui/page_answers.d.ts.
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

/// Returns an Overview, with at most `buckets` buckets.
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
/// Returns a Series, of a worker list a WorkerSeries, of the pool what pool_series() returns. Each
/// line begins with the step in force at "from" and has at most `points` steps, the extremes of
/// each stretch among them. Fails with `bad_input` if there never was such a queue, cluster, list,
/// flavor or resource; it names what there was.
Result<AuditAnswer> series_answer(const ValueSeries& values, const ResourceAliases& aliases,
                                  const SeriesQuestion& question, const TimelineSpan& span,
                                  std::size_t points);
/// Returns whether steps are missing in a Series, because more happened than a Timeline keeps.
bool is_reduced(const Json& series);
/// Puts the lines of `exact`, the answer to the same question from values that were folded for its
/// span alone (exact_values()), in the place of those that were reduced.
void refine(Json& series, const Json& exact);

}  // namespace fairlead
