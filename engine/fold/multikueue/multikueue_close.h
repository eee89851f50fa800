// Closes a moment of the MultiKueue path. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/dirty_set.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Evaluates every worker list, check and Workload that the present moment marked.
void recompute_multikueue(MultiKueueRoom state, DirtySet& dirty);

/// Returns the bound on a list that is written: maxItems in the served CRD of MultiKueueConfig.
std::size_t workers_max(const MultiKueue& multikueue);
/// Whether the Workload keeps its worker in the Placement's list: it is not finished and, where
/// checks use the list, has one of them or Kueue's own check on the config.
bool holds(MultiKueueReader state, const std::string& placement, const WorkloadFacts& workload);
/// Whether a Workload runs on the worker for which holds() is true.
bool is_held(MultiKueueReader state, const std::string& placement, const std::string& worker);
/// Whether the config of that name is ours: marked, or one of the OCM add-on that is adopted.
bool is_own_config(MultiKueueReader state, const std::string& placement);
/// Whether an unmarked object of the OCM add-on may be adopted for this Placement.
bool adopts(MultiKueueReader state, const std::string& placement);
/// Returns the checks that use the Placement's list, in order of names.
std::vector<const CheckRecord*> checks_of(const MultiKueue& multikueue,
                                          const std::string& placement);

/// Returns the Placement whose list a check that is being deleted used, as far as is known; empty
/// for any other check.
std::string left_placement(const CheckRecord& check);
/// Returns the checks of ours that are being deleted and used the Placement's list, in order of
/// names.
std::vector<const CheckRecord*> leaving_checks_of(MultiKueueReader state,
                                                  const std::string& placement);

/// How long after the end of the Workloads that ran on a worker it may enter the list again. In
/// that time Kueue deletes what is left of them there.
inline constexpr Duration kCopiesGone = seconds(60);

}  // namespace fairlead
