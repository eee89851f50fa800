// The machine's clock.
#pragma once

#include "engine/base/time.h"

namespace fairlead {

/// UTC of this machine. May be asked from any thread.
class SystemClock final : public Clock {
 public:
  LogTime now() override;
};

}  // namespace fairlead
