// Renders the tables of answers about worker lists. Internal to the audit.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/json.h"

namespace fairlead {

/// A list as "[a, b]"; null as "-".
std::string list_text(const Json& names);
/// Of a WorkersWhy document.
std::string workers_text(const Json& document);
/// Of a WorkersHistory document.
/// In at most `columns` columns, where that goes.
std::string workers_history_text(const Json& document, std::size_t columns);

}  // namespace fairlead
