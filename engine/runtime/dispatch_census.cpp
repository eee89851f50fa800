#include "engine/runtime/dispatch_census.h"

#include "engine/runtime/claim_census.h"

namespace fairlead {

const DispatchCounts& DispatchCensus::of(const State& state, LogTime now) {
  if (now < due_) return counts_;
  due_ = now + kCensusInterval;
  counts_ = count_dispatch(state);
  return counts_;
}

}  // namespace fairlead
