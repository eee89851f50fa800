#include "tests/simulation/checkers/all.h"

namespace fairlead::simulation {

Checkers all_checkers(const World& world) {
  Checkers all;
  all.push_back(no_writes_when_quiet(world));
  all.push_back(replay_equals_live(world));
  return all;
}

}  // namespace fairlead::simulation
