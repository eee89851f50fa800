// Deciding a moment of the MultiKueue path. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// Judges every worker list, check and Workload that the present moment opened.
void close_multikueue(State& state, Touched& touched);

/// No longer list is written: maxItems of the served CRD of MultiKueueConfig.
std::size_t workers_max(const State& state);
/// The Workload counts for the Placement's list where it runs: it is not over and, where checks use
/// the list, has one of them.
bool holds(const State& state, const std::string& placement, const WorkloadFacts& workload);
/// The worker is in use: a Workload runs there that has one of the checks that use the list or,
/// where no check uses it, any Workload.
bool is_held(const State& state, const std::string& placement, const std::string& worker);
/// The config of that name is ours: marked, or the OCM add-on's and to be taken over.
bool is_own_config(const State& state, const std::string& placement);
/// An unmarked object of the add-on may be taken over for this Placement.
bool adopts(const State& state, const std::string& placement);
/// The checks that use the Placement's list, in order of names.
std::vector<const CheckRecord*> checks_of(const State& state, const std::string& placement);

/// The Placement whose list a check that is being deleted used, as far as is known; empty for any
/// other check.
std::string left_placement(const CheckRecord& check);
/// The checks of ours that are being deleted and used the Placement's list, in order of names.
std::vector<const CheckRecord*> leaving_checks_of(const State& state, const std::string& placement);

/// How long after the end of what ran on a worker it may come back: Kueue collects what is left in
/// that time.
inline constexpr Duration kCopiesGone = seconds(60);

}  // namespace fairlead
