// The member's side: two ManifestWorks a cluster, one with quota and one with queues, so that a
// quota change does not rewrite Namespaces and LocalQueues.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/queues.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// (namespace, name)
using LocalQueueId = std::pair<std::string, std::string>;

/// Whether BindingPolicies bring members what is equal everywhere: Namespaces, LocalQueues and
/// ResourceFlavors. Quotas differ by cluster, which no policy can express: they stay in a work.
bool has_policies(const State& state);

/// Whether its quota work has a (queue, flavor) that its claim names and whose ClusterQueue or
/// ResourceFlavor the hub has not shown since the log began: what they are is not known here, so
/// nothing of the member is rewritten.
bool member_is_frozen(const State& state, const std::string& cluster);

/// Whether the member's objects follow the hub's at present: it is joined, reachable, its capacity
/// is known and it is not frozen.
bool member_is_written(const State& state, const std::string& cluster);

/// As far as the member's watch or the quota work's feedback tells, nothing runs on the queue.
bool unused_at_member(const Cluster& cluster, const std::string& queue);

/// The applies (or deletes) of `fairlead-quota` and `fairlead-queues` that are due for the cluster.
std::vector<Proposal> emit_works(const State& state, const std::string& cluster, HubQuotas& quotas);

/// Queues that belong in the member's quota work: named by its claim, or still in use or promised
/// on the hub. Their LocalQueues belong at the member as long: what runs there came through them,
/// and is theirs until it ends.
std::set<std::string> queues_at_member(const State& state, const std::string& cluster,
                                       HubQuotas& quotas);

/// The flavors of the queues in the member's quota work.
std::set<std::string> flavors_at_member(const State& state, const std::string& cluster,
                                        HubQuotas& quotas);

/// A LocalQueue of that name was seen at the member with another target.
bool points_elsewhere(const Cluster& cluster, const LocalQueueId& id, const std::string& target);

/// LocalQueues (namespace/name) of the member that belong to somebody else and differ from ours.
std::vector<std::string> local_queue_conflicts(const State& state, const std::string& cluster,
                                               HubQuotas& quotas);

}  // namespace fairlead
