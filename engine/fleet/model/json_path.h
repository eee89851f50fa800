// The JSON paths of printer columns: `.a.b`, `['x']`, `[0]`, `[*]`, `[?(@.type=="Ready")]`.
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/json.h"

namespace fairlead::model {

/// Returns the values that `path` selects in `object`, in order; empty if there are none or the
/// path is not understood.
std::vector<Json> find_by_path(const Json& object, std::string_view path);

}  // namespace fairlead::model
