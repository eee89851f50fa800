// The member's side in a KubeStellar space: one BindingPolicy a cluster, which brings the member
// what is equal everywhere, Namespaces, ResourceFlavors and LocalQueues.
//
// One a cluster and not one for all, because what a member gets depends on its claim: the
// LocalQueues of the queues that it names, without those that somebody else has there already. A
// clause names every object that it selects; none selects a ClusterQueue.
#pragma once

#include <optional>
#include <string>

#include "engine/fold/queues.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// The apply (or delete) of the cluster's policy that is due.
Proposed emit_policy(const State& state, const std::string& cluster, HubQuotas& quotas);

/// The policy is not, or not yet, what it should be.
bool policy_is_due(const State& state, const std::string& cluster, HubQuotas& quotas);

/// Why the policy does not do its work.
struct PolicyTrouble {
  std::string reason;  ///< CamelCase
  std::string message;
};
std::optional<PolicyTrouble> policy_trouble(const State& state, const std::string& cluster);

}  // namespace fairlead
