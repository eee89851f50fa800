// What a Workload asks of a cluster: which devices its pods want there. Internal to the fold.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_question.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// The extended resources that a DeviceClass of some cluster of a list gives.
using ExtendedNames = std::set<std::string>;
ExtendedNames extended_names(const NameMap<Cluster>& clusters, const WorkerList& list);

/// Whether a pod of the Workload has fleet claims or asks for a device: by claims, by an extended
/// resource that a class of a cluster of its list (null: it has none) gives, or by the implicit
/// name of a class. Pod sets that are admitted with 0 have no pod.
bool uses_devices(DispatchReader state, const WorkerList* list, const WorkloadFacts& workload);

/// Returns the question for `pod_sets` of the Workload `id`. It refers to `state` and the facts of
/// `pod_sets`, and is of use while neither changes.
FitQuestion question_of(DispatchReader state, const std::string& cluster, const NamespacedName& id,
                        std::vector<PodSetToFit> pod_sets, const ExtendedNames& extended);
/// Returns the pod sets of a Workload, in order.
std::vector<PodSetToFit> pod_sets_of(const WorkloadFacts& workload);

/// Returns a text that is equal for Workloads that get equal answers from every cluster while its
/// facts and reservations stay; empty for one whose answers depend on more. `parts` keeps what of
/// it does not change with `extended`.
std::string asks_of(const NamespacedName& id, const WorkloadFacts& workload,
                    const ExtendedNames& extended, std::string& parts);

}  // namespace fairlead
