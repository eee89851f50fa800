// The machine's clock, as log time needs it: it never goes back.
//
// A clock that is set back an hour must not hold up a shrink for that hour. So time goes on from
// where it was, at half speed, until UTC has caught up.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>

#include "engine/base/time.h"

namespace fairlead {

/// `utc` (which may jump) made into a time that only goes forward: equal to it, or ahead of it and
/// then half as fast. Owned by one thread.
class ForwardTime {
 public:
  /// Begins at `not_before` if UTC is behind it.
  explicit ForwardTime(LogTime not_before) : last_(not_before) {}

  /// `elapsed` since the last call, by a clock that nobody sets.
  LogTime at(LogTime utc, Duration elapsed) {
    last_ = std::max(utc, last_ + Duration{std::max<std::int64_t>(elapsed.ns, 0) / 2});
    return last_;
  }

 private:
  LogTime last_;
};

/// A clock that is further behind what it told is worth a word.
inline constexpr Duration kClockBehindMax = seconds(5);

/// UTC of this machine, or ahead of it after it was set back. May be asked from any thread.
class SystemClock final : public Clock {
 public:
  /// `not_before`: the last time that was told before this process started; 0 for none. `behind`
  /// is called with the time that is told when UTC turns out to be more than kClockBehindMax behind
  /// it, and not again before UTC has caught up; by the thread that asks.
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
