#include "engine/runtime/system_clock.h"

namespace fairlead {

namespace {

LogTime utc() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

}  // namespace

SystemClock::SystemClock(LogTime not_before)
    : time_(not_before), asked_(std::chrono::steady_clock::now()) {}

LogTime SystemClock::now() {
  const std::lock_guard lock(mutex_);
  const auto asked = std::chrono::steady_clock::now();
  const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(asked - asked_).count();
  asked_ = asked;
  return time_.at(utc(), Duration{elapsed});
}

Duration SystemClock::lead() { return now() - utc(); }

}  // namespace fairlead
