// Questions to a running hub over HTTP: the side of a command. The hub's is question_service.h.
#pragma once

#include "engine/main/hub_place.h"

namespace fairlead {

/// How long a question is asked again of a hub that is busy with others (503 with Retry-After).
inline constexpr int kBusyHubSeconds = 30;

/// Prepares questions to the hub at `place` (see ReachHub). Nothing is sent yet.
Result<AskHub> reach_hub(const HubPlace& place);

}  // namespace fairlead
