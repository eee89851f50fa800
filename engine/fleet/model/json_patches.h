// The three patch formats besides server-side apply.
#pragma once

#include "engine/fleet/model/api_status.h"
#include "engine/fleet/model/structural_schema.h"

namespace fairlead::model {

/// Applies a JSON merge patch (RFC 7386).
Json merge_patched(Json object, const Json& patch);
/// Applies a JSON patch (RFC 6902). Fails with 422 if an operation is impossible, and with 400 if
/// `patch` is no JSON patch.
Outcome<Json> json_patched(const Json& object, const Json& patch);
/// Applies a strategic merge patch, for built-in kinds: lists with a merge key merge by it;
/// `$patch`,
/// `$deleteFromPrimitiveList` and `$setElementOrder` are understood (order is that of the result).
Json strategic_merged(Json object, const Json& patch, const SchemaRef& schema);

}  // namespace fairlead::model
