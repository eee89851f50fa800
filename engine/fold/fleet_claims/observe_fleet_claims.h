// Folds the objects of dra.fairlead.io, and marks the Workloads that may be placed otherwise.
// Internal to the fold.
#pragma once

#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

void observe_fleet_class(FleetRoom state, const std::string& name,
                         Seen<FleetResourceClassFacts> seen);
void observe_fleet_claim(FleetRoom state, const NamespacedName& id,
                         Seen<FleetResourceClaimFacts> seen, Seq seq);
void observe_fleet_template(FleetRoom state, const NamespacedName& id,
                            Seen<FleetResourceClaimTemplateFacts> seen);
void observe_fleet_scheduling(FleetRoom state, const NamespacedName& id,
                              Seen<FleetSchedulingFacts> seen);
/// A ResourceClaimTemplate of the hub.
void observe_booked_template(StateView<FleetClaims> state, const NamespacedName& id,
                             Seen<ResourceClaimTemplateFacts> seen);

/// Notes which claims and templates a Workload needs, and the end of that.
void index_fleet_needs(FleetClaims& fleet, const NamespacedName& id, const WorkloadFacts& facts);
void unindex_fleet_needs(FleetClaims& fleet, const NamespacedName& id, const WorkloadFacts& facts);

}  // namespace fairlead
