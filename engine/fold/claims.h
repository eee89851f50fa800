// Claims: which is in force for a cluster, and what its assignments are granted. Internal to the
// fold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// A claim was seen in a new state.
void observe_claim(State& state, const ObjectObserved& seen, Seq seq);
/// A claim is gone.
void forget_claim(State& state, const std::string& name);
/// The claim, if there is one, is granted anew when the present moment closes.
void open_claim(State& state, const std::string& name);
/// Its status is planned again when the present moment closes. For what cannot change its grants:
/// the answer to a write of the status, the sight of it, or its deadline.
void open_claim_status(State& state, const std::string& name);
/// The claims of `cluster` are granted anew when the present moment closes.
void reopen_claims_of(State& state, const std::string& cluster);
/// The claims that name `queue` are granted anew.
void reopen_claims_naming(State& state, const std::string& queue);
/// Every claim is understood and granted anew (the configuration changed).
void reopen_every_claim(State& state);
/// The ClusterQueues that the claim's grants name, by name, each once.
std::vector<const std::string*> queues_granted(const Claim& claim);
/// How one row of a claim came to its grant.
struct GrantSteps {
  Amount wanted = 0;                   ///< the assignment, or its share of a larger cluster
  std::optional<Amount> flavor_bound;  ///< accepted of the flavor, where it bounds
  Amount after_flavor = 0;
  Amount total_bound = 0;  ///< accepted of the resource over all flavors

  friend bool operator==(const GrantSteps&, const GrantSteps&) = default;
};
/// The steps of every row of a claim that is in force for `cluster`, in the order of terms->rows:
/// by the function that grants.
std::vector<GrantSteps> grant_steps(const State& state, const Cluster& cluster, const Claim& claim);
/// Derives the grants of the claims that are open.
void close_claims(State& state, Touched& touched);

}  // namespace fairlead
