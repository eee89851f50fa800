// The quota of a hub ClusterQueue that follows its workers (annotation fairlead.io/quota-from:
// workers). Internal to the fold.
//
// Its workers are the clusters in the lists of the Placements that its AdmissionChecks name: those
// that are selected or may come back, all while a list is frozen; not those that have been absent
// for moveWindow and only stay because a Workload runs there. Newcomers are looked at, so that they
// count as soon as they enter; who leaves stops counting at once: the list's windows have waited
// already.
//
// What a worker gives is the sum over its ClusterQueues behind LocalQueues with the namespace and
// name of the hub's; each sum is damped like capacity (layer 2, the first value, stale and lost).
// Where nobody watches a worker, what claims grant of its cluster counts.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// The annotations of the queue say now that its quota follows, or does not; something that it
/// follows may have changed. Judged when the present moment closes.
void open_follower(State& state, const std::string& queue);
/// Something that every queue with the annotation may follow has changed.
void open_followers(State& state);
/// Judges the queues that the present moment opened.
void close_worker_quotas(State& state);

/// The ClusterQueues of a member behind LocalQueues with the namespace and name of those that point
/// to the hub's `queue`.
std::set<std::string> related_queues(const State& state, const std::string& queue,
                                     const Cluster& cluster);
/// What the worker adds on the hub for the pair at this moment; 0 while its cluster is lost.
Amount share_of(const State& state, const std::string& cluster, const WorkerShare& share,
                const QuotaKey& pair);

}  // namespace fairlead
