// A clock that runs faster than the machine's, so that an hour of a fleet fits into a minute.
//
// Hub, API model and fleet share one, so every window, timestamp and deadline passes equally fast.
// It runs only while its owner lets it: on a slow machine time waits for the program.
#pragma once

#include <chrono>
#include <mutex>

#include "engine/base/time.h"

namespace fairlead {

/// Stays at `start` until let_pass() is called, then runs `speed` times as fast as the machine.
/// Never goes back. Any thread may read it.
class ScaledClock final : public Clock {
 public:
  /// `speed` is at least 1.
  ScaledClock(LogTime start, std::int64_t speed);

  LogTime now() override;
  /// Lets the clock run for `span` of the machine's time from now on, after which it stops until
  /// the next call. A new call replaces the span.
  void let_pass(Duration span);

  LogTime start() const { return start_; }
  /// The time that the machine needs until `span` of this clock has passed, if it does not stop.
  Duration on_the_machine(Duration span) const { return {span.ns / speed_}; }

 private:
  LogTime now_locked(std::chrono::steady_clock::time_point at) const;

  const LogTime start_;
  const std::int64_t speed_;
  std::mutex mutex_;  // guards the rest
  LogTime base_;      ///< its time at mark_
  std::chrono::steady_clock::time_point mark_{};
  Duration allowed_;  ///< of the machine, from mark_
};

}  // namespace fairlead
