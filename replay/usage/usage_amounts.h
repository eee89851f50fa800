// Parts that the outputs of reports about use have in common.
#pragma once

#include <string>

#include "engine/base/json.h"
#include "replay/usage/usage_report.h"

namespace fairlead {

/// Prints an amount of milli-units x milliseconds that is in no column: seconds exactly, hours
/// rounded half up.
std::string usage_amount(UsageUnit unit, Int128 value);
/// {"side", "cluster", "key", "uid", "flavor", "resource"}.
Json usage_key_json(const UsageRowKey& key);
/// The members of a document beside its rows: the question, and the part of the log that answers.
Json usage_head_json(const UsageReport& report, UsageUnit unit);
/// The first and the last line of a table.
std::string usage_head_text(const UsageReport& report);
std::string usage_foot_text(const UsageReport& report);

}  // namespace fairlead
