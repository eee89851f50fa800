// Whether a stream, or a cluster by its sources, is heard.
#pragma once

#include <cstdint>

#include "schema/event.h"

namespace fairlead {

/// In order of gravity but for the last.
enum class Liveness : std::uint8_t {
  live,
  stale,
  lost,
  overrun,  ///< of a stream alone, where it counts as stale: it changes more often than is read
};

/// What a stream is that is not heard for this cause.
constexpr Liveness liveness_of(StaleCause cause) {
  return cause == StaleCause::too_many_changes ? Liveness::overrun : Liveness::stale;
}

}  // namespace fairlead
