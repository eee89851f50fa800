// A question about use as `fairlead usage` asks it: its texts, and what they mean in a log.
#pragma once

#include <string>

#include "engine/main/client/time_text.h"
#include "replay/usage/usage_report.h"

namespace fairlead {

struct UsageQuestion {
  std::string from, to;  ///< positions (position.h); empty: the log's first and last event
  std::string by = "queue";
  std::string every;   ///< 1h, 1d or month; empty: one period
  bool exact = false;  ///< the log is folded, even where sums by hour are kept
};

/// Reads the question: the span, at most from the log's first to its last event, is cut at the
/// hours, days or months of `zone`, whose name is `zone_name`. Fails with `bad_input` for a text
/// that means nothing or a span whose ends are reversed, and as the log fails to be read.
Result<UsageRequest> usage_request(const AuditSource& source, const UsageQuestion& question,
                                   TimeZone zone, const std::string& zone_name);

/// Returns the first moment after `time` at which an hour ("1h"), day ("1d") or month ("month") of
/// the zone begins.
LogTime next_period(LogTime time, std::string_view every, TimeZone zone);

}  // namespace fairlead
