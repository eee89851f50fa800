// Claims: which is in force for a cluster, and what its assignments are granted. Internal to the
// fold.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/claims/claim_spec.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/claims/dirty_claims.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/dirty_set.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Folds an observation of a claim.
void observe_claim(ClaimRoom state, const ObjectObserved& seen, Seq seq);
/// Removes a claim that is gone.
void forget_claim(ClaimRoom state, const std::string& name);
/// Returns the name of the claim that is made for a cluster which has none.
std::string new_claim_name(const std::string& cluster);
/// Returns the cluster for which such a claim is made; empty if the name is no such claim's.
std::string cluster_of_new_claim(const std::string& name);
/// Parses and marks every claim again, because the configuration changed.
void reparse_claims(ClaimRoom state);
/// Returns the ClusterQueues that the claim's grants name, sorted, each once.
std::vector<const std::string*> queues_granted(const Claim& claim);
/// What is accepted of a cluster's flavors, as far as it decides which pairs bound assignments.
struct FlavorsAccepted {
  bool totals;                          ///< what is accepted is totals, without flavors
  const std::set<CapacityKey>& mapped;  ///< Cluster::mapped
};
/// Whether the accepted capacity of the pair's flavor alone bounds what `terms` assign of it.
bool flavor_bound_applies(const FlavorsAccepted& accepted, const ClaimTerms& terms,
                          const CapacityKey& pair);
/// How one row of a claim came to its grant.
struct GrantSteps {
  Amount wanted = 0;                   ///< the assignment, or its share of a larger cluster
  std::optional<Amount> flavor_bound;  ///< accepted of the flavor, where it bounds
  Amount after_flavor = 0;
  Amount total_bound = 0;  ///< accepted of the resource over all flavors

  friend bool operator==(const GrantSteps&, const GrantSteps&) = default;
};
/// Returns the steps of every row of a claim that is in force for `cluster`, in the order of
/// terms->rows. The function that derives the grants records them.
std::vector<GrantSteps> grant_steps(ClaimReader state, const Cluster& cluster, const Claim& claim);
/// Derives the grants of the marked claims (ClaimTables::dirty).
void recompute_claims(ClaimRoom state, DirtySet& dirty);

}  // namespace fairlead
