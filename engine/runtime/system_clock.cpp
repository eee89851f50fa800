#include "engine/runtime/system_clock.h"

#include <chrono>

namespace fairlead {

LogTime SystemClock::now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

}  // namespace fairlead
