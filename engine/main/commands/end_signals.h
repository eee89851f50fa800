// The signals that ask a long-running command to end: Ctrl-C and SIGTERM.
#pragma once

#include <signal.h>

#include "engine/base/time.h"

namespace fairlead {

/// Waits for them. They are blocked, so no code runs inside a handler.
class EndSignals {
 public:
  /// Made before any other thread: threads inherit the set of blocked signals.
  EndSignals();
  /// Whether one came within `span`.
  bool within(Duration span) const;

 private:
  sigset_t set_{};
};

}  // namespace fairlead
