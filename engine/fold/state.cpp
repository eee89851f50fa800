#include "engine/fold/state.h"

namespace fairlead {

State::State() = default;
State::State(const State& other) = default;
State::State(State&& other) noexcept = default;
State& State::operator=(const State& other) = default;
State& State::operator=(State&& other) noexcept = default;
State::~State() = default;
bool operator==(const State& a, const State& b) {
  return static_cast<const StateFields&>(a) == static_cast<const StateFields&>(b);
}

}  // namespace fairlead
