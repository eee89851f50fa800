// Whether a process still lives. What it does after its death is void: nothing that it sends
// arrives, nothing that it appends is stored.
#pragma once

#include <memory>

#include "engine/base/time.h"

namespace fairlead::simulation {

struct Life {
  bool over = false;
  LogTime paused;  ///< until then it stands still, as after SIGSTOP
  LogTime alone;   ///< until then no request of it gets through
};
using LifeRef = std::shared_ptr<Life>;

}  // namespace fairlead::simulation
