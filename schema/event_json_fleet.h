// Private to event_json.cpp: prints the facts of fleet claims.
#pragma once

#include "engine/base/json.h"
#include "schema/fleet_facts.h"

namespace fairlead {

/// Each returns the facts in the shape of the API, without what they leave out.
Json json_of(const FleetResourceClassFacts& of);
Json json_of(const FleetResourceClaimFacts& claim);
Json json_of(const FleetResourceClaimTemplateFacts& of);
Json json_of(const FleetSchedulingFacts& scheduling);

}  // namespace fairlead
