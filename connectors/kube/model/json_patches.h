// The three patch formats besides server-side apply.
#pragma once

#include "connectors/kube/model/api_status.h"
#include "connectors/kube/model/structural_schema.h"

namespace fairlead::model {

/// RFC 7386.
Json merge_patched(Json object, const Json& patch);
/// RFC 6902. 422 where an operation cannot be done, 400 where the patch is none.
Outcome<Json> json_patched(const Json& object, const Json& patch);
/// Strategic merge, for built-in kinds: lists with a merge key merge by it, `$patch`,
/// `$deleteFromPrimitiveList` and `$setElementOrder` are understood (order is that of the result).
Json strategic_merged(Json object, const Json& patch, const SchemaRef& schema);

}  // namespace fairlead::model
