// What keeps a claim that is being deleted: its finalizer is released once nothing of its quota is
// left on the hub or at the member. The claim's condition Released says the first thing in the way.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/cluster_queue.h"

namespace fairlead {

/// What the release of a claim's finalizer waits for.
struct ReleaseBar {
  std::string reason;  ///< CamelCase: WaitingForHub, WaitingForMember, QuotaInUse, ...
  std::string message;
  /// A write is on its way, or due within its write interval, after which this is judged again: no
  /// status is written for what lasts no longer.
  bool soon_over = false;
};

/// Nothing (std::nullopt) where all that the claim named is promised on the hub and stands at the
/// member only as far as another claim is granted it. Of a detached cluster nothing is waited for.
std::optional<ReleaseBar> release_bar(const State& state, const Claim& claim, QueueWishes& wishes);

/// As release_bar; and where nothing is left but our finalizer, what the API server answered to its
/// removal.
std::optional<ReleaseBar> finalizer_bar(const State& state, const std::string& name,
                                        const Claim& claim, QueueWishes& wishes);

}  // namespace fairlead
