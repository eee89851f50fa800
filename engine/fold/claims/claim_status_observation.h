// Whether a claim's status is still as our last accepted write left it. Internal to the fold,
// except the queries.
//
// Digests of the fields that we own are compared (schema/claim_status.h), never texts. What our
// write left is the status that the watch reports for the version in the server's answer: an older
// CRD may store less than was sent. Until that version is observed it is what was sent.
#pragma once

#include <string>

#include "engine/fold/claims/claim_state.h"
#include "engine/fold/rooms.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

/// The minimum time between two writes of one status, of a claim or an AdmissionCheck, if the
/// second only restores what another controller has overwritten.
inline constexpr Duration kStatusRestoreInterval = minutes(1);

/// Returns true if another writer has changed our fields of the claim's status since our last
/// accepted write, and no write of it is outstanding. False where the log does not hold both
/// digests, as before schema version 4.
bool status_is_foreign(StateView<const ClaimTables, const WriteTables> state,
                       const std::string& name);
/// The same, with our writes of the status at hand.
bool status_is_foreign(StateView<const ClaimTables, const WriteTables> state,
                       const std::string& name, const WriteState& write);

/// Returns true if `seen`, which is not folded yet, has a status that neither our last accepted
/// write nor the outstanding one leaves.
bool shows_foreign_status(const WriteTables& writes, const std::string& name,
                          const ClaimFacts& seen);

/// Returns true if the status in `seen` needs no event: State has the same one, our outstanding
/// write leaves it, or State already holds another writer's status and `seen` has another
/// writer's status too.
bool is_known_status(StateView<const ClaimTables, const WriteTables> state, const std::string& name,
                     const ClaimFacts& seen);

/// Returns true if our outstanding write of the status is expected to leave it as `seen` has it.
bool has_outstanding_status(const WriteState& write, const ClaimFacts& seen);

/// Folds an observation of a claim whose status we have written at least once.
void note_status_seen(WriteState& write, const ObjectObserved& seen);
/// Folds that our write of a claim's status has happened, and left `version`: by the server's
/// answer, or by what was observed of a write without one. From then on the status is what
/// the write left, unless the watch has reported a later version of the claim.
void note_status_accepted(ClaimTables& claims, WriteState& write, const PatchIntended& intent,
                          const std::string& version);

}  // namespace fairlead
