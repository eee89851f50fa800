// Which fleet claims a Workload needs, and which Workloads use them. Internal to the fold, the plan
// and the audit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns how many pods of the set run: as admitted, else as asked for.
std::int64_t pod_count(const WorkloadPodSet& pods);

/// One entry of a Workload's fleet claims.
struct FleetNeed {
  std::string entry;
  NamespacedName claim;   ///< of that name; for an entry with a template `<workload>-<entry>`
  std::string template_;  ///< the template that it is made from; empty: the entry names the claim
};

FleetNeed need_of(const NamespacedName& workload, const PodClaim& entry);

/// What the annotations of its pod templates say, joined by the entries' names.
struct FleetNeeds {
  std::vector<FleetNeed> all;  ///< in the order in which they are named first
  std::string fault;  ///< the first annotation that cannot be read, and why; then `all` is empty
};

/// Returns what the pods of a Workload need: a pod set that is admitted with 0 has no pod. Nothing
/// where fleet claims are switched off.
FleetNeeds fleet_needs(const Configuration& configuration, const NamespacedName& id,
                       const WorkloadFacts& workload);
/// Returns the claims that its pod sets name, in whatever number of pods.
std::vector<NamespacedName> claims_named(const NamespacedName& id, const WorkloadFacts& workload);
/// Whether there is something in FleetNeeds.
bool has_fleet_needs(const Configuration& configuration, const WorkloadFacts& workload);

/// Returns the claim of a need; null if there is none.
const FleetClaimRecord* find_claim(const FleetClaims& fleet, const NamespacedName& id);
FleetClaimRecord* find_claim(FleetClaims& fleet, const NamespacedName& id);
/// Whether the claim was made for the Workload with that uid.
bool is_made_for(const FleetClaimRecord& claim, std::string_view uid);

/// Whether the class of the claim lets it be used in the cluster; one that is missing does.
bool is_suitable(const FleetClaims& fleet, const FleetResourceClaimFacts& claim,
                 const std::string& cluster);
/// Whether the claim can be used in the cluster as it is allocated; one that is not yet can.
bool is_in_reach(const FleetResourceClaimFacts& claim, const std::string& cluster);

/// Whether the FleetScheduling belongs to the Workload with that uid, and not to an earlier one.
bool is_owned(const FleetSchedulingFacts& scheduling, std::string_view uid);
/// Returns what the drivers of the Workload's claims were asked, and their answers; null: nothing.
const Observed<FleetSchedulingFacts>* scheduling_of(const FleetClaims& fleet,
                                                    const NamespacedName& id,
                                                    const WorkloadRecord& record);
/// Whether the driver of the entry's claim has said that the cluster does not suit it.
bool is_called_unsuitable(const FleetSchedulingFacts& scheduling, const std::string& entry,
                          const std::string& cluster);

/// Whether the entry names a Workload.
bool is_workload(const ClaimConsumer& consumer);
/// Returns the entry of status.reservedFor for a Workload.
ClaimConsumer consumer_of(const std::string& name, const std::string& uid);
/// Whether status.reservedFor of the claim, as observed, names the Workload.
bool is_reserved_for(const FleetClaimRecord& claim, std::string_view workload_uid);
/// Whether the claims of the Workload are reserved for it, as observed.
bool are_claims_reserved(FleetReader state, const NamespacedName& id, const WorkloadRecord& record);
/// Returns how many consumers the claim has besides the Workload `id`: holders, and entries of
/// other kinds.
std::size_t other_consumers(const FleetClaimRecord& claim, const NamespacedName& id);
/// Whether the Workload is decided to go to a cluster, but not nominated before its claims are
/// reserved for it.
bool awaits_claims(FleetReader state, const NamespacedName& id, const WorkloadRecord& record);
/// Returns status.reservedFor as it should be: what other consumers have is kept.
std::vector<ClaimConsumer> wished_consumers(const MultiKueue& multikueue, const NamespacedName& id,
                                            const FleetClaimRecord& claim);

/// The most consumers of one claim (status.reservedFor of resource.k8s.io has the same bound).
inline constexpr std::size_t kConsumersMax = 256;

}  // namespace fairlead
