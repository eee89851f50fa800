// To which workers Kueue's external dispatcher may copy a Workload. Internal to the fold.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Derives the nomination of a Workload at this moment: the list without its leavers. One that
/// stands changes only when the list does, or when another leaver has been absent for the move
/// window.
void close_nomination(State& state, const NamespacedName& id);

/// What takes a nomination away when Kueue names a cluster. A Workload may not have both, and Kueue
/// cannot drop a field that another manager applied: without it the Workload is never admitted.
struct Clearer {
  enum class Way : std::uint8_t {
    policy,           ///< a MutatingAdmissionPolicy
    merge_patch,      ///< Kueue's gate WorkloadRequestUseMergePatch, on the configuration's word
    not_asked_after,  ///< a record from before the setting `multikueue.clearedBy`
  };
  Way way{};
  std::string policy;  ///< its name, where the way is one

  friend bool operator==(const Clearer&, const Clearer&) = default;
};

/// The clearer that `multikueue.clearedBy` asks for; none: nothing may be nominated. Of several
/// policies the first by name.
std::optional<Clearer> clearer_of_nominations(const State& state);

/// Kueue's bound on status.nominatedClusterNames.
inline constexpr std::size_t kNominatedMax = 20;

}  // namespace fairlead
