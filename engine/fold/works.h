// ManifestWorks and BindingPolicies: what members were sent and what they are known to admit.
// Internal to the fold, except the names.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Names of the two works of a cluster, in the namespace of the cluster.
inline constexpr std::string_view kQuotaWork = "fairlead-quota";
inline constexpr std::string_view kQueueWork = "fairlead-queues";

/// The BindingPolicy that brings a cluster what is equal everywhere. Policies have no namespace, so
/// the cluster is in the name.
std::string policy_name(const std::string& cluster);
/// The cluster of the policy with that name; empty if it is no policy of ours.
std::string cluster_of_policy(const std::string& name);

void observe_work(State& state, const ObjectObserved& seen, Seq seq);
void forget_work(State& state, const ObjectKey& key);
void observe_policy(State& state, const ObjectObserved& seen, Seq seq);
void forget_policy(State& state, const ObjectKey& key);
/// A work is on its way: until it is settled the member admits only what both contents admit.
void expect_work(State& state, const PatchIntended& intent);

}  // namespace fairlead
