// The member's side: the ManifestWorks of a cluster, of quota (one, or as many as work_layout.h
// cuts it into) and one of LocalQueues, so that a quota change does not rewrite Namespaces and
// LocalQueues.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/queues/queues.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// (namespace, name)
using LocalQueueId = std::pair<std::string, std::string>;

/// Whether BindingPolicies bring members the objects that are equal everywhere: Namespaces,
/// LocalQueues and ResourceFlavors. Quotas differ by cluster, which no policy can express: they
/// stay in a work.
bool has_policies(const State& state);

/// Whether a quota work of it has a (queue, flavor) that its claim names and whose ClusterQueue or
/// ResourceFlavor was not observed on the hub since the log began. Their content is unknown then,
/// so nothing of the member is rewritten.
bool member_is_frozen(const State& state, const std::string& cluster);

/// Whether the member's objects follow the hub's at present: the cluster has a member, is neither
/// detached nor lost, its capacity is known, and it is not frozen.
bool member_is_written(const State& state, const std::string& cluster);

/// Whether neither the member's watch nor the feedback of a quota work reports usage of the queue.
bool unused_at_member(const Cluster& cluster, const std::string& queue);

/// Returns the applies (or deletes) of the cluster's quota works and of `fairlead-queues` that are
/// due.
std::vector<PatchIntended> emit_works(const State& state, const std::string& cluster,
                                      HubQuotas& quotas);

/// Returns the queues that belong in the member's quota work: named by its claim, or still in use
/// or promised on the hub. Their LocalQueues stay at the member as long, because the workloads that
/// run there were submitted through them.
std::set<std::string> queues_at_member(const State& state, const std::string& cluster,
                                       HubQuotas& quotas);

/// Returns the flavors of the queues in the member's quota work.
std::set<std::string> flavors_at_member(const State& state, const std::string& cluster,
                                        HubQuotas& quotas);

/// Whether a LocalQueue of that name was observed at the member with another target.
bool points_elsewhere(const Cluster& cluster, const LocalQueueId& id, const std::string& target);

/// Returns the LocalQueues (namespace/name) of the member that have another owner and another
/// target than ours.
std::vector<std::string> local_queue_conflicts(const State& state, const std::string& cluster,
                                               HubQuotas& quotas);

}  // namespace fairlead
