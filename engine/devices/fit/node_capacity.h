// How many pods of one plan a node can hold, exactly: all ways to place them there are tried.
//
// Only a node that shares no pool with others has such a number, whatever happens elsewhere. Then
// the sum over the nodes says whether a gang of equal pods fits, and no search has to find that out
// by placing pods on many nodes in every order: of pods that want two devices side by side and find
// one such pair on each of ten nodes, an eleventh cost 7,200 steps, and twice that with each node.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/devices/fit/kinds.h"
#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/taken.h"

namespace fairlead::fitting {

/// Returns the most pods that fit on `node` beside what is taken, not more than `at_most`; nullopt
/// if that takes too long to find out. Asked between two pods, for a plan whose pods solve no named
/// claims. Leaves everything as it was. Adds the devices that were tried to `steps`.
std::optional<std::int64_t> node_capacity(ClusterDeviceIndex& devices, Taken& taken, Kinds& kinds,
                                          const PodPlan& plan, DeviceNode& node,
                                          std::int64_t at_most, std::int64_t& steps);

}  // namespace fairlead::fitting
