// Renders the tables of `why` and `why-not` from their documents. Internal to the audit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

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
/// An event as "seq 12 at TIME", or "seq 12, pruned".
std::string seq_at_time(const Json& place);
/// "a, b, c", or of more than `most` names "a, b and 7 more, to j".
std::string first_of(const std::vector<std::string>& names, std::size_t most);
/// So many devices are named in a line, so that a cluster of a thousand stays readable.
inline constexpr std::size_t kDevicesNamed = 8;
/// A value of a document as a table cell: null is "-", text is unquoted.
std::string cell(const Json& value);

}  // namespace fairlead
