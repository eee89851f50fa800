// Renders the tables of answers about worker lists. Internal to the audit.
#pragma once

#include <string>

#include "engine/base/json.h"

namespace fairlead {

/// A list as "[a, b]"; null as "-".
std::string list_text(const Json& names);
/// Of a WorkersWhy document.
std::string workers_text(const Json& document);
/// Of a WorkersHistory document.
std::string workers_history_text(const Json& document);

}  // namespace fairlead
