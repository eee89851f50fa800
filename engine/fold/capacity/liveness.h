// The liveness of a stream, and of a cluster by its sources.
#pragma once

#include <cstdint>

#include "schema/event.h"

namespace fairlead {

/// Ordered by severity, except `overrun`.
enum class Liveness : std::uint8_t {
  live,
  stale,
  lost,
  overrun,  ///< of streams only; counts as stale: it changes faster than it is read
};

/// Returns the liveness of a stream that is stale for this cause.
constexpr Liveness liveness_of(StaleCause cause) {
  return cause == StaleCause::too_many_changes ? Liveness::overrun : Liveness::stale;
}

}  // namespace fairlead
