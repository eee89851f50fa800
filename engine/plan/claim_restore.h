// A claim's status that somebody else overwrote or wiped: whether it is due to be written again.
#pragma once

#include <string>

#include "engine/base/json.h"
#include "engine/fold/state.h"

namespace fairlead {

/// claim_status_digest of a status as we send it.
Digest digest_of_claim_status(const Json& status);
/// What stands of the claim's status is somebody else's, and kStatusRestoreInterval is over since
/// we wrote it last.
bool restore_is_due(const State& state, const std::string& name);

}  // namespace fairlead
