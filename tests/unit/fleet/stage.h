// Shared by the tests of fleets: an API model, and a clock that the test sets.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <utility>

#include "engine/base/time.h"
#include "engine/fleet/model/shared_model.h"

namespace fairlead {

inline constexpr LogTime kStart{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z

class SetClock final : public Clock {
 public:
  LogTime now() override { return time; }
  LogTime time = kStart;
};

inline std::unique_ptr<model::SharedModel> serve(Clock& clock) {
  return std::make_unique<model::SharedModel>(clock);
}

}  // namespace fairlead
