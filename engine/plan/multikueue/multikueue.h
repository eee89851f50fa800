// The writes of the MultiKueue path.
//
// On the way in: MultiKueueCluster, then the MultiKueueConfig that names it, then the conditions
// that say so; on the way out conditions, config, cluster. A step is proposed only once the one
// before it is seen to stand.
#pragma once

#include <vector>

#include "engine/fold/state.h"
#include "engine/plan/emit.h"

namespace fairlead {

/// Every write that `touched` leads to; each object at most once.
std::vector<Proposal> emit_multikueue(const State& state, const Touched& touched);

// The parts, one a kind of object; each adds to `proposals`.

/// MultiKueueClusters that the list of `placement` needs.
void emit_workers(const State& state, const std::string& placement,
                  std::vector<Proposal>& proposals);
/// MultiKueueClusters of ours among `names` that no list needs.
void emit_worker_removals(const State& state, const std::set<std::string>& names,
                          std::vector<Proposal>& proposals);
/// The MultiKueueConfig of `placement`.
void emit_worker_list(const State& state, const std::string& placement,
                      std::vector<Proposal>& proposals);
/// Conditions of the AdmissionCheck, and the release of the OCM add-on's finalizer.
void emit_check(const State& state, const std::string& name, std::vector<Proposal>& proposals);
/// Our admission checks on a Workload, and its nomination.
void emit_workload(const State& state, const NamespacedName& id, std::vector<Proposal>& proposals);

}  // namespace fairlead
