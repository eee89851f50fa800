// Documents as programs read them: `-o json` and `-o yaml`.
#pragma once

#include <string>

#include "engine/base/json.h"

namespace fairlead {

/// Block style YAML of a document, keys sorted, a new line at the end. Text that YAML could take
/// for something else is quoted as JSON is.
std::string to_yaml_text(const Json& document);

}  // namespace fairlead
