// Parts of the answers about who waits. Internal to replay/waiting.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/log/log_reader.h"
#include "replay/waiting/wait_intervals.h"

namespace fairlead {

/// A duration in seconds as a plain decimal, to the millisecond: "55", "0.25".
std::string seconds_text(Duration span);

Json shortage_json(const std::vector<Shortage>& shortage);
/// Null where the fit is not known, or the class has none.
Json fit_json(QuotaFit fit);
/// `where` is "hub" or "worker".
Json interval_json(const WaitInterval& interval, std::string_view where);

/// Adds "firstSeq", "lastSeq" and "digest": the first and last event of a span, 0 each where it has
/// none, and the log's hash chain behind the group commit with the last event until its end.
Result<void> add_span(const ReadableLog& log, Seq first, Seq last, Json& answer);

}  // namespace fairlead
