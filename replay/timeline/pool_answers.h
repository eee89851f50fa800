// The answers of /ui/api/pool, and of /ui/api/series about the super cluster pool, as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "replay/timeline/timeline_answers.h"

namespace fairlead {

/// More namespaces and pods are counted, not listed.
inline constexpr std::size_t kPoolRowsMax = 500;

/// What is asked for; empty: all of it.
struct PoolQuestion {
  std::string tenant = {};
  std::string namespace_ = {};     ///< TENANT/NAME
  std::string super_cluster = {};  ///< an id
};

/// Returns a Pool as it is at the end of what `state` was folded from: "tenants" [{"tenant",
/// "state" ("connected", "not connected"), "namespaces", "pods", "waiting" (numbers), "slices" and
/// "limit" {"cpu", "memory"} (a missing one has none)}]; "superClusters" [{"id", "cluster" (null:
/// no member has the id), "state" (open, closed, away, gone), "overflowing", "namespaces" (a
/// number), "accepted" and "held" {resource: amount}}]; "namespaces" [{"tenant", "namespace",
/// "states" (pool_values.h), "slice" {"cpu", "memory"} (null: none was read), "expected", "slices",
/// "placements" {id: slices}, "reason" (null: nothing is missing), "pods", "waiting"}], those that
/// lack something first; "pods" [{"tenant", "namespace", "pod", "superCluster" (null: none),
/// "waitsSince" (null: it does not wait), "reason" (null: nothing is missing)}]: those that wait
/// or, where a namespace is asked for, all of its. "namespacesLeftOut" and "podsLeftOut" are how
/// many more there are. Fails with `bad_input` if there is no such tenant, namespace or id now.
Result<AuditAnswer> pool_answer(const State& state, const PoolQuestion& question);

/// Returns the Series of a namespace ("namespace", "shares" [{"id" ("": the namespace itself),
/// "reduced", "lines"}]), of a super cluster ("superCluster", "resources" [{"resource", "reduced",
/// "lines"}]) or of a tenant ("tenant", "resources"). `answer` has the span. Fails as
/// series_answer() does.
Result<AuditAnswer> pool_series(const ValueSeries& values, const SeriesQuestion& question,
                                const TimelineSpan& span, std::size_t points, Json answer);

}  // namespace fairlead
