// OpenAPI documents: kubectl prints them (`explain`) and reads them before it sends an object.
#pragma once

#include <optional>
#include <vector>

#include "engine/fleet/model/api_request.h"
#include "engine/fleet/model/resource_definition.h"

namespace fairlead::model {

/// Answers /openapi/v2 and /openapi/v3...; nullopt if `request` is none of them. Version 2 is an
/// empty document: clients that understand version 3 need no more.
std::optional<ApiAnswer> answer_openapi(const ApiRequest& request,
                                        const std::vector<const ResourceDefinition*>& served);

}  // namespace fairlead::model
