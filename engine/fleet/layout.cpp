#include "engine/fleet/layout.h"

namespace fairlead {
namespace {

// Two thirds of a flavor's machines are in one rack, so that its loss is a mass loss.
std::vector<MachineLayout> machines(int each) {
  std::vector<MachineLayout> out;
  for (const std::string_view flavor : {kOnDemand, kSpot})
    for (int number = 1; number <= each; ++number) {
      const bool first_part = number * 3 <= each * 2;
      const bool in_a = (flavor == kOnDemand) == first_part;
      out.push_back({std::string(flavor) + "-" + std::to_string(number), std::string(flavor),
                     in_a ? "rack-a" : "rack-b"});
    }
  return out;
}

}  // namespace

std::vector<ClusterLayout> fleet_layout() {
  return {{"cluster1", CapacityReport::nodes, Presence::from_the_start, machines(6)},
          {"cluster2", CapacityReport::metrics, Presence::from_the_start, machines(6)},
          {"cluster3", CapacityReport::metrics, Presence::from_the_start, machines(6)},
          {"cluster4", CapacityReport::metrics, Presence::joins_later, machines(3)}};
}

}  // namespace fairlead
