// YAML text to JSON values, for CRD files and for bodies that clients send as YAML.
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/result.h"

namespace fairlead::model {

/// Reads the one document in `text` (JSON is YAML). Plain scalars become null, booleans, integers
/// and floats as in YAML's core schema; quoted ones are strings. Fails with `bad_input`, naming the
/// line.
Result<Json> parse_yaml(std::string_view text);
/// Reads every document of a stream; empty ones are dropped.
Result<std::vector<Json>> parse_yaml_documents(std::string_view text);

}  // namespace fairlead::model
