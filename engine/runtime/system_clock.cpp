#include "engine/runtime/system_clock.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace fairlead {

namespace {

// It goes on while the machine sleeps, unlike CLOCK_MONOTONIC: UTC does not step when it wakes.
LogTime time_since_boot() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return LogTime{} + seconds(time.tv_sec) + Duration{time.tv_nsec};
}

}  // namespace

LogTime ForwardTime::at(LogTime utc, Duration elapsed) {
  elapsed.ns = std::max<std::int64_t>(elapsed.ns, 0);
  const LogTime expected = last_ + elapsed;
  if (!std::exchange(begun_, true)) {
    if (utc <= kClockMax) last_ = std::max(utc, last_);
  } else if (utc > expected + kClockStepMax) {
    follow(utc, expected, elapsed);
  } else {
    waits_ = false;
    last_ = std::max(utc, last_ + half_of(elapsed));
  }
  return last_;
}

// However short the spans are in which it is asked, it comes to half of their sum.
Duration ForwardTime::half_of(Duration elapsed) {
  const std::int64_t whole = elapsed.ns + odd_;
  odd_ = whole % 2;
  return {whole / 2};
}

void ForwardTime::follow(LogTime utc, LogTime expected, Duration elapsed) {
  // (Both are after 1970: no overflow.)
  const std::int64_t moved = (utc - expected).ns - ahead_.ns;
  const bool stays = waits_ && moved <= kClockStepMax.ns && -moved <= kClockStepMax.ns;
  confirmed_ = stays && utc <= kClockMax ? Duration{confirmed_.ns + elapsed.ns} : Duration{};
  waits_ = true;
  last_ = expected;
  if (confirmed_ >= kClockConfirmedAfter) last_ = last_ + half_of(elapsed);
  ahead_ = utc - last_;
}

LogTime utc_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

LogTime monotonic_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

SystemClock::SystemClock(LogTime not_before, std::function<void(LogTime)> behind,
                         std::function<void(LogTime, LogTime)> ahead)
    : behind_(std::move(behind)),
      ahead_(std::move(ahead)),
      time_(not_before),
      asked_(time_since_boot()) {}

LogTime SystemClock::now() {
  LogTime reported, is;
  bool fell_behind = false, went_ahead = false;
  {
    const std::lock_guard lock(mutex_);
    const LogTime asked = time_since_boot();
    const Duration elapsed = asked - std::exchange(asked_, asked);
    is = utc_now();
    reported = time_.at(is, elapsed);
    fell_behind = !is_behind_ && reported - is > kClockBehindMax;
    is_behind_ = fell_behind || (is_behind_ && reported > is);
    went_ahead = time_.waits() && !is_ahead_;
    is_ahead_ = time_.waits();
  }
  if (fell_behind && behind_) behind_(reported);
  if (went_ahead && ahead_) ahead_(reported, is);
  return reported;
}

}  // namespace fairlead
