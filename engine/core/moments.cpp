#include "engine/core/moments.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/fold/evolve.h"
#include "engine/fold/light_copy.h"

namespace fairlead {

void Moments::restore(State state) { state_ = std::move(state); }

void Moments::appended(const Event& event) {
  evolve(state_, event, dirty_);
  open_ = true;
  over_ = std::holds_alternative<TimerFired>(event.fact);
  ++events_;
}

void Moments::close() {
  close_moment(state_, dirty_);
  open_ = false;
  over_ = true;
  events_ = 0;
}

State Moments::copy_with_nodes_of(const std::set<std::string>& clusters) {
  return fairlead::copy_with_nodes_of(state_, clusters);
}

std::vector<PatchIntended> Moments::planned() { return planner_.plan(dirty_); }

std::vector<PatchIntended> Moments::planned_alone(DirtySet dirty) { return planner_.plan(dirty); }

LogTime Moments::next_time(LogTime now, Clocking clocking) const {
  const bool later = over_ && clocking == Clocking::strict;
  return std::max(now, later ? state_.now + Duration{1} : state_.now);
}

}  // namespace fairlead
