// Renders the answers about the super cluster pool. Internal to the audit.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/json.h"

namespace fairlead {

std::string why_placed_text(const Json& document);
std::string why_not_placed_text(const Json& document);
/// In at most `columns` columns, where that goes.
std::string placement_history_text(const Json& document, std::size_t columns);

}  // namespace fairlead
