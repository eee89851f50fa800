// What the fleet claims of a Workload say at one moment. Internal to the audit.
#pragma once

#include <string>

#include "engine/base/json.h"
#include "engine/fold/state.h"
#include "replay/audit/audit_moment.h"

namespace fairlead {

/// Returns a row for each entry of the annotation dra.fairlead.io/claims, as audit_why_workload()
/// says of "fleetClaims".
Json fleet_claims_json(const State& state, const NamespacedName& id, const WorkloadRecord& record,
                       EventLookup& events);
/// Returns what its drivers were asked and have answered ("fleetScheduling"); null: nothing.
Json fleet_scheduling_json(const State& state, const NamespacedName& id,
                           const WorkloadRecord& record, EventLookup& events);
/// Returns the first entry whose claim cannot be used in the cluster, or not be allocated for it;
/// empty: there is none.
std::string entry_that_keeps_from(const State& state, const NamespacedName& id,
                                  const WorkloadRecord& record, const std::string& cluster);

}  // namespace fairlead
