// Facts of Kueue's Workloads, and the settings about them.
#pragma once

#include "schema/configuration.h"
#include "schema/facts.h"

namespace fairlead::samples {

/// With every field set that its first version had.
WorkloadFacts workload();
/// With every field set, which no Workload has at one time.
WorkloadProgress workload_progress();
/// Every setting about Workloads and usage differs from its default.
Configuration configuration_of_workloads();

}  // namespace fairlead::samples
