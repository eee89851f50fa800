// Which events led to a write: Reason::because.
//
// Named is what came since the last accepted write that left the same part otherwise: the claim,
// its cluster's capacity, silences, who else wrote the queue. Where that finds nothing, everything
// that the object follows from is named: a reason never stands without events.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// The events behind a write of a hub ClusterQueue in which `pairs` get other quotas, and the
/// clusters contribute `parts`. Ascending, at most kReasonSeqsMax.
std::vector<Seq> seqs_behind(const State& state, const std::string& queue,
                             const std::set<QuotaKey>& pairs,
                             const std::vector<Contribution>& parts);

/// The events behind a write of `object`, which says what the member of `cluster` should have.
std::vector<Seq> seqs_of_cluster(const State& state, const std::string& cluster,
                                 const ObjectKey& object);

}  // namespace fairlead
