// The part of a question for devices that does not depend on who asks. Internal to the fold.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// An extended resource with this prefix asks for devices of the class that the rest names.
inline constexpr std::string_view kImplicitName = "deviceclass.resource.kubernetes.io/";

/// Whether an entry of the pod names a claim, and not a template of claims.
bool names_a_claim(const PodDeviceFacts& pod);

/// Returns a question of `pod_sets` to the cluster, with the tolerations of flavors and the bound
/// of the configuration. The caller adds template_of and claim_of. `extended` are the extended
/// resources that are devices. The question refers to `state` and is of use while it is unchanged.
///
/// Kueue gives a pod the tolerations of each flavor that it assigns, one flavor per resource. So a
/// pod on a node has the tolerations of the flavors that win the node for cpu, for `extended`, and
/// for the names that dra.deviceClassMappings gives to classes.
FitQuestion question_at(StateView<const Configuration, const FlavorTables, const Clusters> state,
                        const std::string& cluster, std::vector<PodSetToFit> pod_sets,
                        std::set<std::string> extended);

}  // namespace fairlead
