// Measures use in a log: folds it from the nearest state before a span and adds up what was granted
// and used in each of its periods.
#pragma once

#include <deque>
#include <vector>

#include "replay/audit/audit.h"
#include "replay/usage/usage_meter.h"

namespace fairlead {

/// Returns the periods between `cuts`, which ascend and are at least two. Events behind the last
/// cut are read as far as they may say something about the time before it (usage_meter.h). Fails
/// with `bad_input` if what was before the first cut is not known any more, and as the log fails to
/// be read.
Result<std::vector<UsagePeriod>> measure_usage(const AuditSource& source,
                                               const std::vector<UsageView>& views,
                                               const std::vector<LogTime>& cuts);

/// Returns the earliest time from which use can be measured: of the first event or, where that was
/// pruned, of the oldest state that replaces it. Fails as the log fails to be read.
Result<LogTime> usage_begin(const AuditSource& source);

}  // namespace fairlead
