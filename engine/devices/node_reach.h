// Which nodes a device reaches.
#pragma once

#include <string>

#include "schema/kinds/devices.h"
#include "schema/packed_map.h"

namespace fairlead {

/// Whether a node of this name with these labels matches one of the selector's terms. A term
/// without requirements matches no node. Source: k8s.io/component-helpers
/// scheduling/corev1/nodeaffinity.
bool matches(const NodeSelector& selector, const std::string& node, const Labels& labels);

/// Returns how `device` of `slice` reaches nodes: by the slice, or by itself where the slice says
/// perDeviceNodeSelection.
const NodeReach& reach_of(const ResourceSliceFacts& slice, const DeviceFacts& device);

/// Whether `reach` (not of kind `devices`) includes the node.
bool reaches(const NodeReach& reach, const std::string& node, const Labels& labels);

}  // namespace fairlead
