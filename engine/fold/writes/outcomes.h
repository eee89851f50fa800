// Folds intents, their outcomes and the observations that follow them. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/changes.h"
#include "engine/fold/deadlines.h"
#include "engine/fold/rooms.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

// Each of these folds one event, and evolve() calls it once for it.

/// Folds an intent, after the moment that it was planned in has closed: the write is outstanding
/// from now on. It takes the place of an outstanding one of the same object or status, whose
/// outcome is then without effect.
void note_intent(WriteRoom state, const PatchIntended& intent, Seq seq);
/// Folds the acceptance of an outstanding write: what it wrote is ours now, and the observation of
/// its version, or of the end of its object, is awaited; after a status of a claim nothing is. This
/// and the next two are without effect if the intent is not outstanding any more.
Changes note_accepted(WriteRoom state, const PatchAccepted& accepted);
/// Folds the refusal of an outstanding write: the same wish is sent again at Refusal::retry_at;
/// after a conflict also once the object is observed, after an outage also once a write of the same
/// kind was accepted.
Changes note_rejected(WriteRoom state, const PatchRejected& rejected, Seq seq);
/// Folds that an outstanding write has no answer: it stays outstanding for kDoubt, unless an
/// observation decides it before.
Changes note_unknown(WriteRoom state, const PatchUnknown& unknown);
/// Folds an observation of an object that we write, after fold_object(): it may be the awaited
/// version, or the result of an unanswered write, and is compared with the State that has it.
Changes note_observed(WriteRoom state, const std::string& source, const ObjectObserved& seen);
/// Forgets our writes of an object and of its status, before fold_object(): it is gone, or is
/// observed with another uid.
void note_gone(WriteRoom state, const std::string& source, const ObjectKey& key);
/// Folds a complete list of the kind. It ends every wait for a version of ours: what the list does
/// not have was lost, as when the API server's store was restored from a backup.
Changes note_listed(WriteRoom state, const std::string& source, Kind kind);
/// Folds the deadline of an object: it is planned again, and an expired doubt about it ends.
Changes reach_write_deadline(WriteRoom state, const WriteKey& key);
/// Sets the deadlines of the statuses of the cluster's claims, because accepted values changed: a
/// status is planned again when the values have held still for claims.statusInterval, unless it is
/// written before.
void await_still_numbers(WriteRoom state, const std::string& cluster);
/// Marks every unanswered write as doubtful, because a new process leads: what an earlier one sent
/// may or may not have happened.
Changes doubt_outstanding(WriteRoom state);

}  // namespace fairlead
