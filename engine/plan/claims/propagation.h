// The claim's condition Propagated: whether hub and member have the quota that it is granted.
//
// It follows from what was observed. True means that the hub's ClusterQueues and, where the cluster
// has a member, the member have what is promised. Otherwise the reason is the first obstacle in the
// order in which quota moves: the hub's refusal, the member, a lost cluster, the hub's next write.
#pragma once

#include <string>

#include "engine/plan/queues/cluster_queue.h"

namespace fairlead {

struct Propagation {
  std::string status;  ///< True, False, Unknown
  std::string reason;  ///< CamelCase
  std::string message;
  /// A write is outstanding, or due within its write interval, after which this is derived again:
  /// no status is written for so short a wait.
  bool soon_over = false;
};
Propagation propagation_of(const State& state, const Claim& claim, QueueWishes& wishes);

/// Returns the API server's answer to a write, such as "500: Internal error occurred: ...".
std::string answer_text(const Refusal& refusal);
/// Returns the end of a message, "; the last write was answered with ..."; empty if the last write
/// was not refused.
std::string after_refusal(const WriteState* write);

}  // namespace fairlead
