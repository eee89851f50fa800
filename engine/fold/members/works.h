// ManifestWorks and BindingPolicies: what was sent to members and what they are known to admit.
// Internal to the fold, except the names and the questions about a queue at its member.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/changes.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// The names of the works of a cluster, which are in the namespace of the cluster. Quota that does
/// not fit one work is in further ones: kQuotaWork, kQuotaWork-1, kQuotaWork-2, ...
inline constexpr std::string_view kQuotaWork = "fairlead-quota";
inline constexpr std::string_view kQueueWork = "fairlead-queues";

/// Returns the name of the quota work with that number; 0 is kQuotaWork.
std::string quota_work_name(std::size_t number);
/// Returns the number of the quota work with that name; nullopt if it is none.
std::optional<std::size_t> quota_work_number(std::string_view name);

/// Returns the quotas of one queue in the work, by a binary search; empty if it has none.
std::span<const WorkQuota> quotas_in(const Work& work, const std::string& queue);
/// Returns the names of the works that have quota of the queue, by number. It has two while the
/// queue moves from the first to the last of them.
std::vector<std::string> works_with(const Cluster& cluster, const std::string& queue);
/// Returns the first of them; null if there is none.
const Work* work_with(const Cluster& cluster, const std::string& queue);
/// Returns the queues that the quota works have quota of.
std::set<std::string> queues_in_works(const Cluster& cluster);

/// Whether the member has what the hub wrote of the queue: its works are reported as applied and
/// available for their present generation, and its Kueue does not say that it is not active.
bool is_settled(const Cluster& cluster, const std::string& queue);
/// Returns why the member's Kueue admits nothing to the queue, as its condition Active says: the
/// reason, such as "FlavorNotFound". Nullopt if it is active, or nothing is reported of it.
std::optional<std::string> why_inactive(const Cluster& cluster, const std::string& queue);

/// Returns the names of the works of the cluster that were written or are observed, sorted.
std::set<std::string> works_written(MemberReader state, const std::string& cluster);
/// Whether a write of a quota work of the cluster is unanswered, or not observed yet.
bool quota_write_pending(MemberReader state, const std::string& cluster);

/// Returns the name of the BindingPolicy that brings a cluster the objects that are equal on all
/// members. Policies have no namespace, so the cluster is in the name.
std::string policy_name(const std::string& cluster);
/// Returns the cluster of the policy with that name; empty if the policy is not ours.
std::string cluster_of_policy(const std::string& name);

// Each of these returns that the claims of the cluster follow, if they do.
Changes observe_work(MemberRoom state, const ObjectObserved& seen, Seq seq);
Changes forget_work(MemberRoom state, const ObjectKey& key);
Changes observe_policy(ClusterMarks state, const ObjectObserved& seen, Seq seq);
Changes forget_policy(ClusterMarks state, const ObjectKey& key);
/// Folds that the member's own queue, as its watch reports it, may have changed.
Changes observe_queue_at_member(StateView<const Configuration, Clusters, QueueTables> state,
                                const std::string& cluster, const std::string& queue);
/// Whether a work has the manifests and feedback rules that it should have. Of a work whose record
/// lacks the rules, the manifests decide. Digests are compared
/// (docs/decisions/0009-works-are-compared-by-manifests.md).
bool carries(const ManifestWorkFacts& work, const ManifestWorkFacts& should);
/// Folds an intent to write a work: until the work is settled the member is known to admit only
/// what both the old and the new content admit.
void expect_work(StateView<const Configuration, Clusters, QueueTables> state,
                 const PatchIntended& intent);

}  // namespace fairlead
