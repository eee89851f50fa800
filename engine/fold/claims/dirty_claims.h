// Marks claims, whose grants or statuses are derived again when the present moment closes. Internal
// to the fold.
#pragma once

#include <string>

#include "engine/fold/claims/claim_state.h"

namespace fairlead {

/// Marks the claim, if there is one: its grants are derived again when the present moment closes.
void mark_claim_dirty(ClaimTables& claims, const std::string& name);

/// Marks only the claim's status: it is planned again when the present moment closes. For what
/// cannot change the grants: the answer to a write of the status, its observation, its deadline.
void mark_claim_status_dirty(ClaimTables& claims, const std::string& name);

/// Marks only the grants of the claims of `cluster`: they are derived again, and a claim whose
/// grants stay as they are is not planned. For accepted values that moved.
void mark_cluster_grants_dirty(ClaimTables& claims, const std::string& cluster);

/// Marks the claims of `cluster`, as mark_claim_dirty does.
void mark_cluster_claims_dirty(ClaimTables& claims, const std::string& cluster);

/// Marks the claims that name `queue`, as mark_claim_dirty does.
void mark_queue_claims_dirty(ClaimTables& claims, const std::string& queue);

}  // namespace fairlead
