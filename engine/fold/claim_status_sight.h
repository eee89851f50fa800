// Whether a claim's status is still as our last accepted write left it. Internal to the fold,
// except the queries.
//
// Compared are digests of what we own (schema/claim_status.h), never texts. What our write left is
// what the watch shows of the version that the answer named, also where an older CRD kept less of
// it than was sent; until that is seen it is what was sent.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// The minimum time between two writes of one status, of a claim or an AdmissionCheck, if the
/// second only restores what another controller has overwritten.
inline constexpr Duration kStatusRestoreInterval = minutes(1);

/// True if another writer has changed what we own of the claim's status since our last accepted
/// write, and no write of it is outstanding. False where the log does not hold both digests, as
/// before schema version 4.
bool status_is_foreign(const State& state, const std::string& name);

/// True if `seen`, which is not folded yet, has a status that neither our last accepted write nor
/// the outstanding one leaves.
bool shows_foreign_status(const State& state, const std::string& name, const ClaimFacts& seen);

/// True if the status in `seen` needs no event: State has the same, or our outstanding write leaves
/// it, or State knows already that the status was changed by another writer, and so it is again.
bool is_known_status(const State& state, const std::string& name, const ClaimFacts& seen);

/// Folds a sight of a claim of whose status we have written at least once.
void note_status_seen(WriteState& write, const ObjectObserved& seen);
/// Folds the server's acceptance of our write of a claim's status. From then on the status is what
/// the write left, unless the watch has shown a later version of the claim.
void note_status_accepted(State& state, WriteState& write, const PatchIntended& intent,
                          const std::string& version);

}  // namespace fairlead
