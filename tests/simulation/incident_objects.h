// From the facts that a log keeps of an object back to an object that has these facts.
#pragma once

#include <optional>
#include <string>

#include "engine/base/json.h"
#include "schema/event.h"

namespace fairlead::simulation {

/// Returns an object that Fairlead reads as `facts`, but for what controllers write into its
/// status; nullopt for a kind that has no such function, and for facts that no object has.
std::optional<Json> object_with(const ObjectKey& key, const std::string& version,
                                const Facts& facts);

}  // namespace fairlead::simulation
