// The writes of fleet claims: claims that are made from templates, what a claim is reserved for,
// and the FleetScheduling that asks drivers for a cluster. What drivers write is never touched.
#pragma once

#include <vector>

#include "engine/fold/state.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// Adds the writes that are due for a FleetResourceClaim: its creation for a Workload that waits,
/// its status, and its end once the Workload that it was made for is Finished.
void emit_fleet_claim(const State& state, const NamespacedName& id,
                      std::vector<PatchIntended>& proposals);
/// Adds the FleetScheduling of a Workload that waits for drivers.
void emit_fleet_scheduling(const State& state, const NamespacedName& id,
                           std::vector<PatchIntended>& proposals);

}  // namespace fairlead
