#include "engine/fold/multikueue/lookup.h"

#include "engine/fold/multikueue/names.h"

namespace fairlead {

const CheckRecord* check_of(const State& state, const WorkloadFacts& workload) {
  for (const WorkloadCheck& one : workload.checks) {
    const auto check = state.multikueue.checks.find(one.name);
    if (check != state.multikueue.checks.end() &&
        check->second.seen.facts.controller_name == kPlacementController)
      return &check->second;
  }
  return nullptr;
}

const WorkerList* list_of_workload(const State& state, const WorkloadFacts& workload) {
  const CheckRecord* check = check_of(state, workload);
  if (!check) return nullptr;
  const auto list = state.multikueue.lists.find(check->placement);
  return list == state.multikueue.lists.end() ? nullptr : &list->second;
}

}  // namespace fairlead
