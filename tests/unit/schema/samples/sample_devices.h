// Facts of Dynamic Resource Allocation with every field set.
#pragma once

#include "schema/configuration.h"
#include "schema/facts.h"

namespace fairlead::samples {

/// A slice whose devices show each reach, each type of attribute, and each kind of policy.
ResourceSliceFacts resource_slice();
/// A class with a selector that is understood and one that is not.
DeviceClassFacts device_class();
/// A claim that is allocated to two devices and has each kind of request and constraint.
ResourceClaimFacts resource_claim();
ResourceClaimTemplateFacts resource_claim_template();
DeviceTaintRuleFacts device_taint_rule();
/// A pod set with and one without a required node affinity, and what else a Workload says of
/// devices.
WorkloadFacts workload_with_devices();
/// A Pod of a Workload that asks for devices: more than a Pod of one source has.
PodFacts pod_with_devices();
/// None of which is the default.
DraSettings dra_settings();

}  // namespace fairlead::samples
