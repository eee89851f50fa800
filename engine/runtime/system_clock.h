// The machine's clock, as log time needs it: it never goes back, and it does not jump.
//
// A clock that is set back an hour must not delay a shrink for that hour. So time goes on from
// where it was, at half speed, until UTC has caught up.
//
// A clock that is set ahead must not end every window at once, and one wrong reading must not make
// all later events late for ever: log time cannot be set back. So time goes on as fast as the
// monotonic clock, and catches up only with a UTC that stayed where it was set.
#pragma once

#include <functional>
#include <mutex>

#include "engine/base/time.h"

namespace fairlead {

/// How far UTC may step ahead and is followed at once. NTP slews what is less than 128 ms.
inline constexpr Duration kClockStepMax = seconds(5);
/// How long UTC must stay where it was set before time begins to catch up with it.
inline constexpr Duration kClockConfirmedAfter = minutes(10);
/// A clock that says more is wrong: 2100-01-01T00:00:00Z. (LogTime ends in 2262.)
inline constexpr LogTime kClockMax{4'102'444'800'000'000'000};

/// Turns UTC, which may jump, into a time that only goes forward and never jumps: equal to UTC,
/// ahead of it and then half as fast, or behind it and then as fast as a monotonic clock, half as
/// fast again once UTC is confirmed. Owned by one thread.
class ForwardTime {
 public:
  /// Begins at UTC, or at `not_before` if UTC is behind it or beyond kClockMax.
  explicit ForwardTime(LogTime not_before) : last_(not_before) {}

  /// Returns the time at `utc`; `elapsed` is the span since the last call, by a monotonic clock.
  LogTime at(LogTime utc, Duration elapsed);

  /// Whether the time stays behind a UTC that was set ahead.
  bool waits() const { return waits_; }

 private:
  void follow(LogTime utc, LogTime expected, Duration elapsed);
  Duration half_of(Duration elapsed);

  LogTime last_;
  std::int64_t odd_ = 0;  ///< the nanosecond that no half has yet
  bool begun_ = false;
  bool waits_ = false;
  Duration ahead_;      ///< of UTC before the time, while it waits
  Duration confirmed_;  ///< how long UTC has been that far ahead
};

/// UTC of this machine, which may jump.
LogTime utc_now();

/// A time of this machine that never goes back, for spans; no wall clock.
LogTime monotonic_now();

/// How far UTC may be behind the returned time before SystemClock reports it.
inline constexpr Duration kClockBehindMax = seconds(5);

/// UTC of this machine, or ahead of it after it was set back, or behind after it was set ahead. Any
/// thread may call it.
class SystemClock final : public Clock {
 public:
  /// `not_before` is the last time returned before this process started; 0 for none. When UTC is
  /// more than kClockBehindMax behind the returned time, now() calls `behind` with that time, and
  /// not again before UTC has caught up. When UTC was set ahead, now() calls `ahead` with the time
  /// that goes on and with UTC, once until the two agree again.
  explicit SystemClock(LogTime not_before = {}, std::function<void(LogTime)> behind = {},
                       std::function<void(LogTime, LogTime)> ahead = {});

  LogTime now() override;

 private:
  const std::function<void(LogTime)> behind_;
  const std::function<void(LogTime, LogTime)> ahead_;
  std::mutex mutex_;
  bool is_behind_ = false;
  bool is_ahead_ = false;
  ForwardTime time_;
  LogTime asked_;  ///< by the monotonic clock
};

}  // namespace fairlead
