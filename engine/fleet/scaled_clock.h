// A clock that runs faster than the machine's: what makes an hour of a fleet fit into a minute.
//
// Hub, API model and fleet share one, so every window, timestamp and deadline passes equally fast.
// It goes on only while its owner lets it: on a machine that cannot keep up, time waits for the
// program instead of running away from it.
#pragma once

#include <chrono>
#include <mutex>

#include "engine/base/time.h"

namespace fairlead {

/// Stands at `start` until let_pass() is called, then goes `speed` times as fast as the machine.
/// Never goes back. Any thread may ask.
class ScaledClock final : public Clock {
 public:
  /// `speed` is at least 1.
  ScaledClock(LogTime start, std::int64_t speed);

  LogTime now() override;
  /// From now on it goes for `span` of the machine's time and then stands, unless it is let pass
  /// again before.
  void let_pass(Duration span);

  LogTime start() const { return start_; }
  /// How long the machine needs until `span` of this clock has passed, if it does not stand.
  Duration on_the_machine(Duration span) const { return {span.ns / speed_}; }

 private:
  LogTime now_locked(std::chrono::steady_clock::time_point at) const;

  const LogTime start_;
  const std::int64_t speed_;
  std::mutex mutex_;  // guards the rest
  LogTime base_;      ///< what it showed at mark_
  std::chrono::steady_clock::time_point mark_{};
  Duration allowed_;  ///< of the machine, from mark_
};

}  // namespace fairlead
