// Which nodes of a cluster were suppressed over a span: they flapped, and did not count for growing
// (layer 1 of the damping). Folded anew for each question, because the index does not keep it.
#pragma once

#include "replay/audit/audit.h"
#include "replay/timeline/timeline_answers.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

/// An answer has at most this many steps, of so many events from the nearest snapshot to the end of
/// the span: half a second of work.
inline constexpr std::size_t kSuppressedStepsMax = 10'000;
inline constexpr std::uint64_t kSuppressedEventsMax = 200'000;

/// Returns the SuppressedNodes (ui/page_answers.d.ts) of a cluster, by name. Fails as the log fails
/// to be read.
Result<AuditAnswer> suppressed_nodes(const ReadableLog& log, const SnapshotSource* snapshots,
                                     const std::string& cluster, const TimelineSpan& span);

}  // namespace fairlead
