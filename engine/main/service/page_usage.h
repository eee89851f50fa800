// The report about use that the audit page draws.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/main/client/usage_question.h"
#include "engine/main/service/served_log.h"

namespace fairlead {

/// Returns the UsageReport (ui/answers.d.ts) of `served`, in resource-hours, of hours, days and
/// months of UTC: from sums by hour where they are kept. Fails with `bad_input` for a bad question,
/// and as the log fails to be read.
Result<std::string> page_usage(const ServedLog& served, UsageQuestion question);

}  // namespace fairlead
