// Whether a claim's status that another writer overwrote or wiped is due to be written again.
#pragma once

#include <string>

#include "engine/base/json.h"
#include "engine/fold/state_view.h"

namespace fairlead {

/// Returns the claim_status_digest of a status as we send it.
Digest digest_of_claim_status(const Json& status);
/// Whether the claim's status is another writer's, and kStatusRestoreInterval is over since we
/// wrote it last.
bool restore_is_due(StateView<const ClaimTables, const WriteTables, const LogPosition> state,
                    const std::string& name);

}  // namespace fairlead
