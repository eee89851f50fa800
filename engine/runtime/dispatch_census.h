// The numbers of the dispatch by devices, counted now and then.
#pragma once

#include "engine/base/time.h"
#include "engine/fold/dispatch/counts.h"

namespace fairlead {

/// Counts at most once in kCensusInterval, because it walks all Workloads and devices.
class DispatchCensus {
 public:
  /// Returns the counts of `state`, or those of less than kCensusInterval ago.
  const DispatchCounts& of(const State& state, LogTime now);

 private:
  DispatchCounts counts_;
  LogTime due_;
};

}  // namespace fairlead
