// What keeps a claim that is being deleted: its finalizer is released once nothing of its quota is
// left on the hub or at the member. The claim's condition Released reports the first obstacle.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/queues/cluster_queue.h"

namespace fairlead {

/// What the release of a claim's finalizer waits for.
struct ReleaseBar {
  std::string reason;  ///< CamelCase: WaitingForHub, WaitingForMember, QuotaInUse, ...
  std::string message;
  /// A write is outstanding, or due within its write interval, after which this is derived again:
  /// no status is written for so short a wait.
  bool soon_over = false;
};

/// Returns what the release waits for; std::nullopt once the hub promises and the member has
/// nothing of what the claim named, except what another claim is granted. The release of a detached
/// cluster waits for nothing.
std::optional<ReleaseBar> release_bar(const State& state, const Claim& claim, QueueWishes& wishes);

/// Returns the same and, where nothing is left but our finalizer, the API server's refusal to
/// remove it.
std::optional<ReleaseBar> finalizer_bar(const State& state, const std::string& name,
                                        const Claim& claim, QueueWishes& wishes);

}  // namespace fairlead
