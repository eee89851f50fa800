// Which events led to a write: Reason::because.
//
// The reason of a write names the events since the last accepted write that changed the same part:
// of the claim, its cluster's capacity and liveness, and other writers of the queue. Where there
// are none it names everything that the object follows from: a reason always has events.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// Returns the events behind a write of a hub ClusterQueue in which `pairs` get other quotas, and
/// the clusters contribute `parts`. Ascending, at most kReasonSeqsMax.
std::vector<Seq> seqs_behind(const State& state, const std::string& queue,
                             const std::set<QuotaKey>& pairs,
                             const std::vector<Contribution>& parts);

/// Returns the events behind a write of `object`, a work or policy of the member of `cluster`.
/// Ascending, at most kReasonSeqsMax.
std::vector<Seq> seqs_of_cluster(const State& state, const std::string& cluster,
                                 const ObjectKey& object);

}  // namespace fairlead
