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

/// Returns a Pool (ui/page_answers.d.ts) as it is at the end of what `state` was folded from. Fails
/// with `bad_input` if there is no such tenant, namespace or id now.
Result<AuditAnswer> pool_answer(const State& state, const PoolQuestion& question);

/// Returns the ShareSeries of a namespace or the PoolSeries of a super cluster or tenant. `answer`
/// has the span. Fails as series_answer() does.
Result<AuditAnswer> pool_series(const ValueSeries& values, const SeriesQuestion& question,
                                const TimelineSpan& span, std::size_t points, Json answer);

}  // namespace fairlead
