// The names of a worker list: those that stand in its MultiKueueConfig, and those that it may get.
// Internal to the fold.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

bool contains(const std::vector<std::string>& names, const std::string& name);

/// spec.clusters of the Placement's config; empty where that is not ours.
std::vector<std::string> names_in_config(const State& state, const std::string& placement);
/// The list as the hub now has it. What runs where a name was removed is remembered, and whether a
/// foreign write removed it.
void take_names(State& state, const std::string& placement, WorkerList& list);

/// The clusters in the decisions of the Placement.
std::set<std::string> decided_by(const State& state, const std::string& placement);
/// The workers: one for each decided cluster, and one for each name in the list.
void refresh_names(State& state, const std::string& placement, WorkerList& list);
/// Why a cluster cannot be a worker under that name.
LeftOut left_out_by_name(const State& state, const std::string& placement, const std::string& name);

}  // namespace fairlead
