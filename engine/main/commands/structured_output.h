// Documents as programs read them: `-o json` and `-o yaml`.
#pragma once

#include <string>

#include "engine/base/json.h"

namespace fairlead {

/// Returns a document as block style YAML, keys sorted, with a new line at the end. Text that YAML
/// could read as another type is quoted as in JSON.
std::string to_yaml_text(const Json& document);

}  // namespace fairlead
