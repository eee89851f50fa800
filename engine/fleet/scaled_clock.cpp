#include "engine/fleet/scaled_clock.h"

#include <algorithm>

#include "engine/base/check.h"

namespace fairlead {

ScaledClock::ScaledClock(LogTime start, std::int64_t speed)
    : start_(start), speed_(speed), base_(start) {
  check(speed >= 1, "a scaled clock goes forward");
}

LogTime ScaledClock::now_locked(std::chrono::steady_clock::time_point at) const {
  const std::int64_t passed =
      std::chrono::duration_cast<std::chrono::nanoseconds>(at - mark_).count();
  return base_ + Duration{std::min(passed, allowed_.ns) * speed_};
}

LogTime ScaledClock::now() {
  const std::lock_guard lock(mutex_);
  return now_locked(std::chrono::steady_clock::now());
}

void ScaledClock::let_pass(Duration span) {
  const std::lock_guard lock(mutex_);
  const auto at = std::chrono::steady_clock::now();
  base_ = now_locked(at);
  mark_ = at;
  allowed_ = span;
}

}  // namespace fairlead
