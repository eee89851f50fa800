// How far what a claim is granted has come: the claim's condition Propagated.
//
// It is judged by what was observed. True says that the hub's ClusterQueues and, where the cluster
// has a member, the member have what is promised; everything else has a reason, the first in the
// way of quota: the hub's refusal, the member, the hub's next write.
#pragma once

#include <string>

#include "engine/plan/cluster_queue.h"

namespace fairlead {

struct Propagation {
  std::string status;  ///< True, False, Unknown
  std::string reason;  ///< CamelCase
  std::string message;
  /// A write is on its way, or due within its write interval, after which this is judged again: no
  /// status is written for what lasts no longer.
  bool soon_over = false;
};
Propagation propagation_of(const State& state, const Claim& claim, QueueWishes& wishes);

/// "500: Internal error occurred: ...": what the API server answered to a write.
std::string answer_text(const Refusal& refusal);
/// "; the last write was answered with ...": the end of a message, empty where it was not refused.
std::string after_refusal(const WriteState* write);

}  // namespace fairlead
