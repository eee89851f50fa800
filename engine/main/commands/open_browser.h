// Opens a page in the user's browser.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace fairlead {

/// Starts $BROWSER (xdg-open where that is not set) with `url` as its only argument, and does not
/// wait for it. Fails with `unavailable` if there is no such program.
Result<void> open_browser(const std::string& url);

}  // namespace fairlead
