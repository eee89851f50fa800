// The clock of a machine that runs a replica: it may be wrong, jump and go too fast. What the hub
// makes of it is the shipped code's (system_clock.h).
#pragma once

#include <memory>

#include "engine/fleet/model/virtual_time.h"
#include "engine/runtime/system_clock.h"

namespace fairlead::simulation {

class HubClock final : public Clock {
 public:
  /// `rate` is by how many millionths it goes too fast. `time` outlives it.
  HubClock(model::VirtualTime& time, std::int64_t rate) : time_(time), rate_(rate) {}

  /// A process begins whose last log time was `not_before`.
  void begin(LogTime not_before) {
    forward_ = std::make_unique<ForwardTime>(not_before);
    asked_ = time_.now();
  }
  void jump(Duration span) { wrong_.ns += span.ns; }
  /// It is set right.
  void mend() {
    wrong_ = {};
    rate_ = 0;
  }
  LogTime now() override {
    const Duration elapsed = time_.now() - asked_;
    asked_ = time_.now();
    wrong_.ns += elapsed.ns / 1'000'000 * rate_;
    return forward_->at({asked_.ns + wrong_.ns}, elapsed);
  }

 private:
  model::VirtualTime& time_;
  std::int64_t rate_;
  std::unique_ptr<ForwardTime> forward_;
  LogTime asked_;
  Duration wrong_;
};

}  // namespace fairlead::simulation
