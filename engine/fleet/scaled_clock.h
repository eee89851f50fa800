// A clock that runs faster than the machine's: what makes an hour of a fleet fit into a minute.
//
// Hub, API model and fleet share one, so every window, timestamp and deadline passes equally fast.
#pragma once

#include <chrono>

#include "engine/base/time.h"

namespace fairlead {

/// Shows `start` when it is made and then goes `speed` times as fast as the machine. Never goes
/// back. Any thread may ask.
class ScaledClock final : public Clock {
 public:
  /// `speed` is at least 1.
  ScaledClock(LogTime start, std::int64_t speed);

  LogTime now() override;
  LogTime start() const { return start_; }
  /// How long the machine needs until `span` of this clock has passed.
  Duration on_the_machine(Duration span) const { return {span.ns / speed_}; }

 private:
  const LogTime start_;
  const std::int64_t speed_;
  const std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
};

}  // namespace fairlead
