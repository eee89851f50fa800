// Counts of the state for metrics, which are made now and then: a page may be asked for at any
// rate.
#pragma once

#include "engine/base/time.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Walking ten thousand statuses takes a millisecond, so they are counted at most once a second.
inline constexpr Duration kCensusInterval = seconds(1);

/// `count` is a function of a State, or of a view of one; `interval` bounds what it may cost.
template <class Counts, auto count, Duration interval = kCensusInterval>
class Census {
 public:
  /// Returns the counts of `state`, or counts that are younger than `interval`.
  const Counts& of(const State& state, LogTime now) {
    if (now < due_) return counts_;
    due_ = now + interval;
    counts_ = count(state);
    return counts_;
  }

 private:
  Counts counts_;
  LogTime due_;
};

}  // namespace fairlead
