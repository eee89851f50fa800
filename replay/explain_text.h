// The tables of `why` and `why-not`, from their documents. Internal to the audit.
#pragma once

#include <string>

#include "engine/base/json.h"

namespace fairlead {

std::string why_text(const Json& document);
std::string why_not_text(const Json& document);

/// "written by seq 12 at TIME (rule: text), accepted by seq 13"; of a row of QuotaHistory.
std::string writer_text(const Json& change);
/// "8", of a row of QuotaHistory; "8 or 10" where it is not sure.
std::string old_text(const Json& change);
/// A value of a document in a table: null is "-", text as it is.
std::string cell(const Json& value);

}  // namespace fairlead
