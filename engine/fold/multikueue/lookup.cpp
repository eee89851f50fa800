#include "engine/fold/multikueue/lookup.h"

#include "engine/fold/multikueue/names.h"

namespace fairlead {

const CheckRecord* check_of(const MultiKueue& multikueue, const WorkloadFacts& workload) {
  for (const WorkloadCheck& one : workload.checks) {
    const auto check = multikueue.checks.find(one.name);
    if (check != multikueue.checks.end() &&
        check->second.seen.facts.controller_name == kPlacementController)
      return &check->second;
  }
  return nullptr;
}

const WorkerList* list_of_workload(const MultiKueue& multikueue, const WorkloadFacts& workload) {
  const CheckRecord* check = check_of(multikueue, workload);
  if (!check) return nullptr;
  const auto list = multikueue.lists.find(check->placement);
  return list == multikueue.lists.end() ? nullptr : &list->second;
}

}  // namespace fairlead
