#include "engine/runtime/system_clock.h"

#include <utility>

namespace fairlead {

LogTime utc_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

SystemClock::SystemClock(LogTime not_before, std::function<void(LogTime)> behind)
    : behind_(std::move(behind)), time_(not_before), asked_(std::chrono::steady_clock::now()) {}

LogTime SystemClock::now() {
  LogTime reported;
  bool turned = false;
  {
    const std::lock_guard lock(mutex_);
    const auto asked = std::chrono::steady_clock::now();
    const Duration elapsed{std::chrono::nanoseconds(asked - asked_).count()};
    asked_ = asked;
    const LogTime is = utc_now();
    reported = time_.at(is, elapsed);
    turned = !is_behind_ && reported - is > kClockBehindMax;
    is_behind_ = turned || (is_behind_ && reported > is);
  }
  if (turned && behind_) behind_(reported);
  return reported;
}

}  // namespace fairlead
