// Facts of fleet claims with every field set.
#pragma once

#include "schema/facts.h"

namespace fairlead::samples {

FleetResourceClassFacts fleet_resource_class();
/// A booking that is allocated and reserved.
FleetResourceClaimFacts fleet_resource_claim();
FleetResourceClaimTemplateFacts fleet_resource_claim_template();
FleetSchedulingFacts fleet_scheduling();
/// Pod sets with entries of both kinds, with an annotation that cannot be read, and with none.
WorkloadFacts workload_with_fleet_claims();

}  // namespace fairlead::samples
