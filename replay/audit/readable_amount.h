// Amounts as people read them: `729Gi` and `547.2`, where a document has `782758232064` and
// `547200m`.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/json.h"

namespace fairlead {

/// Bytes get the largest binary suffix that leaves at least 1, with one decimal below 100 and none
/// from there on: up to 5 % are rounded away. Anything else keeps its value: thousandths become
/// decimals, and below a million no suffix is used. Text that is not a Quantity is returned as it
/// is.
std::string readable_amount(std::string_view resource, const std::string& text);

/// Makes the amounts in the document of an answer about pairs readable; sentences in it stay as
/// they are.
void make_amounts_readable(Json& document);

}  // namespace fairlead
