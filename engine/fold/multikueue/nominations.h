// Nominations: the workers to which Kueue may copy a Workload when Fairlead is its external
// dispatcher. Why there are none on some hubs: docs/decisions/0029-nominations-need-a-clearer.md.
// Internal to the fold.
#pragma once

#include "engine/fold/multikueue/lookup.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Derives the nomination of a Workload at this moment: the list without its leavers. An observed
/// nomination changes only when the list does, or when another leaver has been absent for the move
/// window. One that uses devices is left to the dispatch by devices (dispatch/dispatch_close.h).
void recompute_nomination(MultiKueueRoom state, const NamespacedName& id);

/// What clears a nomination when Kueue sets status.clusterName. A Workload may not have both, and
/// Kueue cannot drop a field that another manager applied: without a clearer it is never admitted.
struct Clearer {
  ClearedBy by{};
  std::string policy;  ///< its name, where one does

  friend bool operator==(const Clearer&, const Clearer&) = default;
};

/// Returns the clearer that `multikueue.clearedBy` asks for, of several policies the first by name;
/// nullopt if there is none, and then nothing may be nominated.
std::optional<Clearer> clearer_of_nominations(MultiKueueReader state);

/// Kueue's bound on status.nominatedClusterNames.
inline constexpr std::size_t kNominatedMax = 20;

}  // namespace fairlead
