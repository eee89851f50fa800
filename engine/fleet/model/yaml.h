// YAML text to JSON values, for CRD files and for bodies that clients send as YAML.
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/result.h"

namespace fairlead::model {

/// Reads the one document in `text` (JSON is YAML), with the rules of document/yaml_document.h:
/// those of Kubernetes. Fails with `bad_input`, naming the line.
Result<Json> parse_yaml(std::string_view text);
/// Reads every document of a stream; empty ones are dropped.
Result<std::vector<Json>> parse_yaml_documents(std::string_view text);

}  // namespace fairlead::model
