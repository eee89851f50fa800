// Counts of the state for metrics, which are made now and then: a page may be asked for at any
// rate.
#pragma once

#include "engine/base/time.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Walking ten thousand statuses takes a millisecond, so they are counted at most once a second.
inline constexpr Duration kCensusInterval = seconds(1);

/// `count` is a function of a State, or of a view of one.
template <class Counts, auto count>
class Census {
 public:
  /// Returns the counts of `state`, or counts that are younger than kCensusInterval.
  const Counts& of(const State& state, LogTime now) {
    if (now < due_) return counts_;
    due_ = now + kCensusInterval;
    counts_ = count(state);
    return counts_;
  }

 private:
  Counts counts_;
  LogTime due_;
};

}  // namespace fairlead
