// Which resources the devices of a cluster count for: the names that its DeviceClasses give.
// Internal to the fold.
#pragma once

#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Derives DeviceIndex::resources and DeviceCapacityPart::unsupported of a cluster.
///
/// A class that dra.deviceClassMappings names gives that name, any other its
/// spec.extendedResourceName; of several classes with one such name only the newest gives it
/// (creationTimestamp, then the smallest name). Source: Kueue's Configuration
/// resources.deviceClassMappings; kube-scheduler's cache of extended resources.
void name_resources(CountReader state, Cluster& cluster);

/// Returns the compiled selector, which the index keeps.
const CelSelector& compiled(DeviceIndex& index, const std::string& text);

}  // namespace fairlead
