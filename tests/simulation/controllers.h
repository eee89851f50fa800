// What runs in the clusters of a world beside the hub's processes: Kueue, OCM's work agents and
// placement controller. Which of it there is, a storm says.
#pragma once

#include <memory>
#include <vector>

#include "tests/simulation/agent.h"
#include "tests/simulation/kueue.h"
#include "tests/simulation/workers.h"

namespace fairlead::simulation {

class World;

class Controllers {
 public:
  /// `world` outlives it, and has all its servers.
  explicit Controllers(World& world);
  /// Has those that the write concerns look at it soon.
  void saw(const SeenWrite& write);
  /// Null where the storm has none.
  Workers* workers() { return workers_.get(); }

 private:
  std::map<SourceName, Kueue> kueues_;                   ///< by server
  std::map<SourceName, std::unique_ptr<Agent>> agents_;  ///< by member
  std::unique_ptr<Workers> workers_;
};

}  // namespace fairlead::simulation
