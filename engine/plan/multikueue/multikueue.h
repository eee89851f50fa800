// The writes of the MultiKueue path.
//
// A worker enters in this order: MultiKueueCluster, the MultiKueueConfig that names it, the
// conditions that report it. It leaves in the reverse order. A step is proposed only once the one
// before it was observed.
#pragma once

#include <vector>

#include "engine/fold/state.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// Returns the writes that are due for the objects in `dirty`, at most one per object.
std::vector<PatchIntended> emit_multikueue(const State& state, const DirtySet& dirty);

// Its parts, one per kind of object. Each adds the writes that are due to `proposals`.

/// Adds the MultiKueueClusters that the list of `placement` needs.
void emit_workers(const State& state, const std::string& placement,
                  std::vector<PatchIntended>& proposals);
/// Removes the MultiKueueClusters of ours among `names` that no list needs.
void emit_worker_removals(const State& state, const std::set<std::string>& names,
                          std::vector<PatchIntended>& proposals);
/// Adds or removes the MultiKueueConfig of `placement`.
void emit_worker_list(const State& state, const std::string& placement,
                      std::vector<PatchIntended>& proposals);
/// Adds the conditions of the AdmissionCheck, and the removal of the OCM add-on's finalizer.
void emit_check(const State& state, const std::string& name, std::vector<PatchIntended>& proposals);
/// Adds the states of our admission checks on a Workload, and its nomination.
void emit_workload(const State& state, const NamespacedName& id,
                   std::vector<PatchIntended>& proposals);

}  // namespace fairlead
