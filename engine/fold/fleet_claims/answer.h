// Whether the fleet claims of a Workload let it go to a cluster, and to which. Internal to the
// fold.
//
// What the scheduler and the claim controller of resource.k8s.io/v1alpha1 (Kubernetes 1.26) did for
// Pods and nodes happens here for Workloads and clusters; drivers keep their part. A Workload that
// waits takes no claim in part, so two that want each other's claims cannot block each other.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Where a Workload can go, or why it waits.
struct FleetAnswer {
  std::string cluster;      ///< empty: it waits
  DeviceVerdict verdict{};  ///< why; `reserved` where it does not wait
  std::string about;        ///< which claim, class or driver it waits for
};

/// Answers where a Workload that waits can go. `candidates`: the clusters where its pods fit, the
/// best first; `preferred` is taken before them if it is one of those that its claims allow.
///
/// What drivers have to be asked is noted in DeviceDispatch::asked, and a claim that its driver has
/// to deallocate in FleetClaimRecord::release; the plan writes both.
FleetAnswer answer_fleet_claims(FleetRoom state, const NamespacedName& id, WorkloadRecord& record,
                                const std::vector<std::string>& candidates,
                                const std::string& preferred);

/// Marks what the plan makes for the Workload: claims from templates, and its FleetScheduling.
void mark_made_claims_dirty(FleetRoom state, const NamespacedName& id, const WorkloadFacts& facts);

/// Reserves all claims of the Workload for it.
void reserve_claims(FleetRoom state, const NamespacedName& id, const WorkloadRecord& record);
/// Brings the holders of its claims to what is decided and observed of the Workload now: one with a
/// reservation holds them. Marks the Workloads that use a claim which it holds no more.
void follow_holder(FleetRoom state, const NamespacedName& id, const WorkloadRecord& record);
/// Ends what it holds, because it is gone or is not dispatched here any more.
void forget_holder(FleetRoom state, const NamespacedName& id, const WorkloadRecord& record);

/// Whether a Workload that is nominated lost one of its claims: it is missing, not allocated, or
/// cannot be used in `cluster`.
bool has_lost_claim(FleetReader state, const NamespacedName& id, const WorkloadRecord& record,
                    const std::string& cluster);

}  // namespace fairlead
