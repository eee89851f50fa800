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

/// A status that somebody else changed is written again, but not before this since its last write:
/// two writers that each insist cost one write a minute.
inline constexpr Duration kStatusRestoreInterval = minutes(1);

/// What we own of the claim's status is not as our last accepted write left it, and no write of it
/// is under way. False where either is not known, as in logs of before.
bool status_is_foreign(const State& state, const std::string& name);

/// A sight of the claim that is next: what we own in its status is neither as our last accepted
/// write left it nor as one that is under way leaves it.
bool shows_foreign_status(const State& state, const std::string& name, const ClaimFacts& seen);

/// The sight of a status tells nothing new: it is as known, or what a write of ours that is under
/// way leaves, or a foreign one after a foreign one.
bool is_known_status(const State& state, const std::string& name, const ClaimFacts& seen);

/// A claim was seen whose status was written by us.
void note_status_seen(WriteState& write, const ObjectObserved& seen);
/// Our write of the claim's status was accepted: that is what stands there, unless a later version
/// of the claim has been seen.
void note_status_accepted(State& state, WriteState& write, const PatchIntended& intent,
                          const std::string& version);

}  // namespace fairlead
