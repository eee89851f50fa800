// Renders the answers about Workloads that use devices. Internal to the audit.
#pragma once

#include <string>

#include "engine/base/json.h"

namespace fairlead {

/// Of a WorkloadWhy document: where it is placed and with which devices, then what each cluster of
/// its list answers.
std::string why_workload_text(const Json& document);
/// Of a WorkloadWhyNot document: the clusters that refuse it, and the devices in the way.
std::string why_not_workload_text(const Json& document);

}  // namespace fairlead
