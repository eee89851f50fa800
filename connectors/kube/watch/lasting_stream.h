// When a watch stream counts as a success.
#pragma once

#include "engine/base/time.h"

namespace fairlead {

/// A stream that was open for so long was no failure, however it ended: the next retry waits as
/// after a first failure.
inline constexpr Duration kLastingStream = seconds(10);

}  // namespace fairlead
