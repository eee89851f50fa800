// The member's side in a KubeStellar space: one BindingPolicy a cluster, which brings the member
// the objects that are equal on all members: Namespaces, ResourceFlavors and LocalQueues.
//
// There is one per cluster and not one for all, because what a member gets depends on its claim:
// the LocalQueues of the queues that the claim names, without those that exist at the member with
// another target. A clause names every object that it selects; none selects a ClusterQueue.
#pragma once

#include <optional>
#include <string>

#include "engine/fold/queues/queues.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// Returns the apply (or delete) of the cluster's policy that is due; nullopt if none is.
Proposed emit_policy(const State& state, const std::string& cluster, HubQuotas& quotas);

/// Whether the policy of ours differs from what it should be, also while no write may be sent.
bool policy_is_due(const State& state, const std::string& cluster, HubQuotas& quotas);

/// Why the policy has no effect: the hub or the space rejected it, it is not ours, or the cluster
/// lacks its label.
struct PolicyTrouble {
  std::string reason;  ///< CamelCase
  std::string message;
};
std::optional<PolicyTrouble> policy_trouble(const State& state, const std::string& cluster);

/// Whether the space has not processed the policy as it is now: KubeStellar 0.30 sets
/// status.observedGeneration when it has written the policy's Binding.
bool awaits_space(const State& state, const std::string& cluster);

}  // namespace fairlead
