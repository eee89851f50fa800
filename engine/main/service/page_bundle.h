// The audit page as one HTML document that asks no server: `fairlead serve --save`.
#pragma once

#include <string>

#include "engine/base/json.h"
#include "engine/base/result.h"

namespace fairlead {

/// Returns index.html with its styles and scripts inside, and `answers` for ui/saved.js. Its policy
/// allows inline scripts and nothing from anywhere else. Fails with `internal` if the page's files
/// are not as this expects (page_bundle.cpp).
Result<std::string> page_with_answers(const Json& answers);

}  // namespace fairlead
