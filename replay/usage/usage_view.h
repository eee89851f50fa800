// Views of use as they are written: queue, cohort, ..., label:KEY.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "replay/usage/usage_rows.h"

namespace fairlead {

std::string text_of(const UsageView& view);
/// Reads a view. Fails with `bad_input`, naming those that there are.
Result<UsageView> parse_usage_view(std::string_view text);

}  // namespace fairlead
