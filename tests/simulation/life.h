// Whether a process still lives. What it does after its death is void: nothing that it sends
// arrives, nothing that it appends is stored.
#pragma once

#include <memory>

namespace fairlead::simulation {

struct Life {
  bool over = false;
};
using LifeRef = std::shared_ptr<Life>;

}  // namespace fairlead::simulation
