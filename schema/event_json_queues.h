// Private to event_json.cpp: prints what decides the quota of Kueue's queues beside their own
// quotas, and who wrote it.
#pragma once

#include "engine/base/json.h"
#include "schema/event.h"

namespace fairlead {

/// Null where it is absent.
Json weight_json(const std::optional<Quantity>& weight);
Json json_of(const SharingTerms& terms);
Json json_of(const FieldWriter& writer);

}  // namespace fairlead
