// When a controller of the world looks next at what is there.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "connectors/kube/transport/transport.h"
#include "engine/fleet/model/virtual_time.h"

namespace fairlead::simulation {

class NextLook {
 public:
  /// `time` outlives it.
  NextLook(model::VirtualTime& time, std::function<void()> look)
      : time_(time), look_(std::move(look)) {}

  /// Looks when `span` has passed, or sooner if that was asked for.
  void after(Duration span) {
    const LogTime then = time_.now() + span;
    if (then_ <= then) return;
    then_ = then;
    timer_ = time_.after(span, [this] {
      then_ = kForever;
      look_();
    });
  }

 private:
  model::VirtualTime& time_;
  const std::function<void()> look_;
  std::unique_ptr<Transport::Timer> timer_;
  LogTime then_ = kForever;
};

}  // namespace fairlead::simulation
