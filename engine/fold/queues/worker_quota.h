// The quota of a hub ClusterQueue that follows its workers (annotation fairlead.io/quota-from:
// workers). Internal to the fold.
//
// Its workers are the clusters in the lists of the Placements that its AdmissionChecks name: those
// that are selected or may come back, and all while a list is frozen; not those that have been
// absent for moveWindow and only stay because a Workload runs there. Values of newcomers are
// collected, so that they count as soon as they enter. A worker that leaves stops counting at once,
// because the list's windows have waited already.
//
// The share of a worker is the sum over its ClusterQueues behind LocalQueues with the namespace and
// name of the hub's; each sum is damped like capacity (layer 2, the first value, stale and lost).
// A queue that admits nothing, because it is held, drained or inactive, adds nothing.
// For a worker that is not watched, what claims grant of its cluster counts. What it rests on:
// docs/decisions/0028-a-quota-that-follows-workers.md.
#pragma once

#include <string>

#include "engine/fold/capacity/damping_layers.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Marks a queue whose annotations, or whose workers, may have changed: it is evaluated when the
/// present moment closes.
void mark_follower_dirty(StateView<MultiKueue, const QueueTables> state, const std::string& queue);
/// Marks every queue with the annotations.
void mark_followers_dirty(MultiKueue& multikueue);
/// Evaluates the marked queues.
void recompute_worker_quotas(QueueRoom state);

/// Returns the ClusterQueues of a member behind LocalQueues with the namespace and name of those
/// that point to the hub's `queue`, each with why it does not count: "LocalQueue team/main has
/// stopPolicy Hold". That is empty for those that count: they and one of their LocalQueues admit.
std::map<std::string, std::string> related_queues(const QueueTables& queues,
                                                  const std::string& queue, const Cluster& cluster);
/// Returns what holds all values of the share, as the last close left it.
Gate gate_of(const WorkerShare& share);
/// Returns what the worker adds on the hub for the pair at this moment; 0 while the hub does not
/// count its cluster (Cluster::counted_again_at).
Amount share_of(const NameMap<Cluster>& clusters, const std::string& cluster,
                const WorkerShare& share, const QuotaKey& pair);

}  // namespace fairlead
