// `--frame-ancestors`: which pages may show the audit page in a frame.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace fairlead {

inline constexpr const char kFrameAncestorsHelp[] =
    "Origins whose pages may show the audit page in a frame, with spaces (https://portal.example); "
    "default: none";

/// Returns the value of the policy: 'none' of an empty text, else its origins. Fails with
/// `bad_input`, naming the option, unless each is 'self' or http(s)://HOST[:PORT], where the host
/// may begin with `*.`: anything else could be read as more of a header.
Result<std::string> frame_ancestors_of(const std::string& text);

}  // namespace fairlead
