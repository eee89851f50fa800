// The pauses between retries: each twice as long as the one before, up to a bound.
#pragma once

#include <algorithm>

#include "engine/base/time.h"

namespace fairlead {

/// Counts the failures in a row. Adds no jitter.
class RetryBackoff {
 public:
  /// Notes a failure and returns the pause that follows: `first` doubled for each failure before it
  /// in the row, at most `max`.
  Duration next(Duration first, Duration max) {
    Duration span = first;
    for (int i = 0; i < failures_ && span < max; ++i) span.ns *= 2;
    ++failures_;
    return std::min(span, max);
  }
  /// Notes a failure that is retried at once.
  void note_failure() { ++failures_; }
  /// Ends the row: a success.
  void reset() { failures_ = 0; }
  /// Whether the last attempt failed.
  bool failing() const { return failures_ > 0; }

 private:
  int failures_ = 0;
};

}  // namespace fairlead
