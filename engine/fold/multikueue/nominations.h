// To which workers Kueue's external dispatcher may copy a Workload. Internal to the fold.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Derives the nomination of a Workload at this moment: the list without its leavers. One that
/// stands changes only when the list does, or when another leaver has been absent for the move
/// window.
void close_nomination(State& state, const NamespacedName& id);

/// Kueue's bound on status.nominatedClusterNames.
inline constexpr std::size_t kNominatedMax = 20;

}  // namespace fairlead
