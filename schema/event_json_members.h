// Private to event_json.cpp: prints conditions, and the facts of the kinds that carry quota to a
// member.
#pragma once

#include "engine/base/json.h"
#include "schema/facts.h"

namespace fairlead {

/// Null where it is absent.
Json json_of(const ConditionFacts& condition);
Json json_of(const FlavorUsage& usage);
Json json_of(const ManifestWorkFacts& work);
Json json_of(const BindingPolicyFacts& policy);
Json json_of(const TopologyFacts& topology);

}  // namespace fairlead
