// YAML text to JSON values, for CRD files and for bodies that clients send as YAML.
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/result.h"

namespace fairlead::model {

/// The one document in `text` (JSON is YAML). Plain scalars become null, booleans, integers and
/// floats as in YAML's core schema; everything quoted is a string. ErrorCode::bad_input with the
/// line otherwise.
Result<Json> parse_yaml(std::string_view text);
/// Every document of a stream; empty ones are dropped.
Result<std::vector<Json>> parse_yaml_documents(std::string_view text);

}  // namespace fairlead::model
