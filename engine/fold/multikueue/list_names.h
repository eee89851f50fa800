// The names of a worker list: those in its MultiKueueConfig, and those that it may get. Internal to
// the fold.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

bool contains(const std::vector<std::string>& names, const std::string& name);

/// Returns spec.clusters of the Placement's config; empty if that is not ours.
std::vector<std::string> names_in_config(MultiKueueReader state, const std::string& placement);
/// Copies the list as the hub has it to `list.names`. For a name that was removed, remembers the
/// Workloads that run there, and whether another writer removed it.
void assign_names(MultiKueueRoom state, const std::string& placement, WorkerList& list);

/// Returns the clusters in the decisions of the Placement.
std::set<std::string> decided_by(MultiKueueReader state, const std::string& placement);
/// Updates `list.workers`: one for each decided cluster, and one for each name in the list.
void refresh_names(MultiKueueRoom state, const std::string& placement, WorkerList& list);
/// Returns why a cluster cannot be a worker under that name.
LeftOut left_out_by_name(MultiKueueReader state, const std::string& placement,
                         const std::string& name);

}  // namespace fairlead
