// Private to event_json.cpp and event_json_fleet.cpp: prints the facts of Dynamic Resource
// Allocation.
#pragma once

#include "engine/base/json.h"
#include "schema/device_facts.h"

namespace fairlead {

/// Each returns the facts in the shape of the API, without what they leave out: an empty list, a
/// false, an absent text.
Json json_of(const ResourceSliceFacts& slice);
Json json_of(const DeviceClassFacts& of);
Json json_of(const ResourceClaimFacts& claim);
Json json_of(const ResourceClaimTemplateFacts& of);
Json json_of(const DeviceTaintRuleFacts& rule);
Json json_of(const PodDeviceFacts& pod);
Json json_of(const ClaimConsumer& consumer);
Json json_of(const PodClaim& claim);

/// Adds a member unless its text is empty.
void put_text(Json& json, const char* key, const std::string& text);

}  // namespace fairlead
