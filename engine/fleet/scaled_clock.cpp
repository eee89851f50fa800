#include "engine/fleet/scaled_clock.h"

#include "engine/base/check.h"

namespace fairlead {

ScaledClock::ScaledClock(LogTime start, std::int64_t speed) : start_(start), speed_(speed) {
  check(speed >= 1, "a scaled clock goes forward");
}

LogTime ScaledClock::now() {
  const auto passed = std::chrono::steady_clock::now() - made_;
  const std::int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
  return start_ + Duration{ns > INT64_MAX / speed_ ? INT64_MAX : ns * speed_};
}

}  // namespace fairlead
