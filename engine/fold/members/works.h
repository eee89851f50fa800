// ManifestWorks and BindingPolicies: what was sent to members and what they are known to admit.
// Internal to the fold, except the names.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// The names of the two works of a cluster, which are in the namespace of the cluster.
inline constexpr std::string_view kQuotaWork = "fairlead-quota";
inline constexpr std::string_view kQueueWork = "fairlead-queues";

/// Returns the name of the BindingPolicy that brings a cluster the objects that are equal on all
/// members. Policies have no namespace, so the cluster is in the name.
std::string policy_name(const std::string& cluster);
/// Returns the cluster of the policy with that name; empty if it is no policy of ours.
std::string cluster_of_policy(const std::string& name);

void observe_work(State& state, const ObjectObserved& seen, Seq seq);
void forget_work(State& state, const ObjectKey& key);
void observe_policy(State& state, const ObjectObserved& seen, Seq seq);
void forget_policy(State& state, const ObjectKey& key);
/// Whether a work has the manifests and feedback rules that it should have. Of a work whose record
/// lacks the rules, the manifests decide. Digests are compared
/// (docs/decisions/0009-works-are-compared-by-manifests.md).
bool carries(const ManifestWorkFacts& work, const ManifestWorkFacts& should);
/// Folds an intent to write a work: until the work is settled the member is known to admit only
/// what both the old and the new content admit.
void expect_work(State& state, const PatchIntended& intent);

}  // namespace fairlead
