// The member's side: two ManifestWorks a cluster, one with quota and one with queues, so that a
// quota change does not rewrite Namespaces and LocalQueues.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/emit.h"

namespace fairlead {

/// The applies (or deletes) of `fairlead-quota` and `fairlead-queues` that are due for the cluster.
std::vector<Proposal> emit_works(const State& state, const std::string& cluster);

/// Queues that belong in the member's quota work: named by its claim, or still in use or promised
/// on the hub.
std::set<std::string> queues_at_member(const State& state, const std::string& cluster);

/// LocalQueues (namespace/name) of the member that belong to somebody else and differ from ours.
std::vector<std::string> local_queue_conflicts(const State& state, const std::string& cluster);

/// What the member should have of a pair: the grant, or what the hub still promises if that is
/// more.
Amount member_quota(const State& state, const std::string& cluster, const std::string& queue,
                    const QuotaKey& pair);

}  // namespace fairlead
