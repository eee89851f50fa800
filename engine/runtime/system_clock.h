// The machine's clock, as log time needs it: it never goes back.
//
// A clock that is set back an hour must not delay a shrink for that hour. So time goes on from
// where it was, at half speed, until UTC has caught up.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>

#include "engine/base/time.h"

namespace fairlead {

/// Turns UTC, which may jump, into a time that only goes forward: equal to UTC, or ahead of it and
/// then half as fast. Owned by one thread.
class ForwardTime {
 public:
  /// Begins at `not_before` if UTC is behind it.
  explicit ForwardTime(LogTime not_before) : last_(not_before) {}

  /// Returns the time at `utc`; `elapsed` is the span since the last call, by a monotonic clock.
  LogTime at(LogTime utc, Duration elapsed) {
    last_ = std::max(utc, last_ + Duration{std::max<std::int64_t>(elapsed.ns, 0) / 2});
    return last_;
  }

 private:
  LogTime last_;
};

/// UTC of this machine, which may jump.
LogTime utc_now();

/// How far UTC may be behind the returned time before SystemClock reports it.
inline constexpr Duration kClockBehindMax = seconds(5);

/// UTC of this machine, or ahead of it after it was set back. Any thread may call it.
class SystemClock final : public Clock {
 public:
  /// `not_before` is the last time returned before this process started; 0 for none. When UTC is
  /// more than kClockBehindMax behind the returned time, now() calls `behind` with that time, and
  /// not again before UTC has caught up.
  explicit SystemClock(LogTime not_before = {}, std::function<void(LogTime)> behind = {});

  LogTime now() override;

 private:
  const std::function<void(LogTime)> behind_;
  std::mutex mutex_;
  bool is_behind_ = false;
  ForwardTime time_;
  std::chrono::steady_clock::time_point asked_;
};

}  // namespace fairlead
