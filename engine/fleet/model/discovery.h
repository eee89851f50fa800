// Discovery documents, which list the served kinds: /api, /apis, /version, aggregated and per
// group.
#pragma once

#include <optional>
#include <vector>

#include "engine/fleet/model/api_request.h"
#include "engine/fleet/model/resource_definition.h"

namespace fairlead::model {

/// Answers a discovery request; nullopt if `request` is none.
std::optional<ApiAnswer> answer_discovery(const ApiRequest& request,
                                          const std::vector<const ResourceDefinition*>& served,
                                          const std::string& git_version);

}  // namespace fairlead::model
