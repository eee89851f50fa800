// Renders the tables of `why` and `why-not` from their documents. Internal to the audit.
#pragma once

#include <string>

#include "engine/base/json.h"

namespace fairlead {

std::string why_text(const Json& document);
std::string why_not_text(const Json& document);

/// Who made the change of a row of QuotaHistory: "kubectl-edit (Update, TIME), helm (Apply, TIME)";
/// empty where the row has no "by".
std::string field_managers_text(const Json& change);
/// The text of a row of QuotaHistory: "8 -> 10 by seq 12 at TIME (rule, because of seq 9), accepted
/// by seq 13 at TIME".
std::string writer_text(const Json& change);
/// The old value of a row of QuotaHistory: "8", or "8 or 10" where it is not certain.
std::string old_text(const Json& change);
/// A value of a document as a table cell: null is "-", text is unquoted.
std::string cell(const Json& value);

}  // namespace fairlead
