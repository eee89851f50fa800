// Our own writes: intents, outcomes and the observations that follow them. Internal to the fold,
// except the queries.
#pragma once

#include <string>

#include "engine/fold/state.h"
#include "engine/fold/writes/retry.h"

namespace fairlead {

// Each of these folds one event, and evolve() calls it once for it.

/// Folds an intent, after the moment that it was planned in has closed: the write is outstanding
/// from now on. It takes the place of an outstanding one of the same object or status, whose
/// outcome is then without effect.
void note_intent(State& state, const PatchIntended& intent, Seq seq);
/// Folds the acceptance of an outstanding write: what it wrote is ours now, and the observation of
/// its version, or of the end of its object, is awaited; after a status of a claim nothing is. This
/// and the next two are without effect if the intent is not outstanding any more.
void note_accepted(State& state, const PatchAccepted& accepted);
/// Folds the refusal of an outstanding write: the same wish is sent again at Refusal::retry_at;
/// after a conflict also once the object is observed, after an outage also once a write of the same
/// kind was accepted.
void note_rejected(State& state, const PatchRejected& rejected, Seq seq);
/// Folds that an outstanding write has no answer: it stays outstanding for kDoubt, unless an
/// observation decides it before.
void note_unknown(State& state, const PatchUnknown& unknown);
/// Folds an observation of an object that we write, after fold_object(): it may be the awaited
/// version, or the result of an unanswered write, and is compared with the State that has it.
void note_observed(State& state, const std::string& source, const ObjectObserved& seen);
/// Forgets our writes of an object and of its status, before fold_object(): it is gone, or is
/// observed with another uid.
void note_gone(State& state, const std::string& source, const ObjectKey& key);
/// Folds a complete list of the kind. It ends every wait for a version of ours: what the list does
/// not have was lost, as when the API server's store was restored from a backup.
void note_listed(State& state, const std::string& source, Kind kind);
/// Folds the deadline of an object: it is planned again, and an expired doubt about it ends.
void reach_write_deadline(State& state, const WriteKey& key);
/// Sets the deadlines of the statuses of the cluster's claims, because accepted values changed: a
/// status is planned again when the values have held still for claims.statusInterval, unless it is
/// written before.
void await_still_numbers(State& state, const std::string& cluster);
/// Marks every unanswered write as doubtful, because a new process leads: what an earlier one sent
/// may or may not have happened.
void doubt_outstanding(State& state);

WriteKey write_key(const PatchIntended& intent);
/// Whether the refusal was a conflict: the object is derived again once the watch reports it.
inline bool is_conflict(const Refusal& refusal) { return refusal.intent == Digest{}; }
/// Returns our writes of an object or a status; null if there were none.
const WriteState* find_write(const State& state, const WriteKeyView& key);
/// Returns our writes of an object of the hub, without its status; null if there were none.
const WriteState* write_of(const State& state, const ObjectKey& object);
/// Returns our writes of its status; null if there were none.
const WriteState* status_write_of(const State& state, const ObjectKey& object);
/// Whether a write of the object is unanswered, or the watch has not reported its result yet.
bool write_pending(const State& state, const WriteKeyView& key);
/// Returns the API server's refusal of our last write of it; null if there is none, or only a
/// conflict.
const Refusal* refusal_of(const State& state, const ObjectKey& object);
/// Returns the write interval in force for an object: the longest that the claims which feed it
/// set.
Duration write_interval(const State& state, const WriteKeyView& key);
/// Whether ingest must log the next observation of this object even if nothing in it changed.
bool awaits_observation(const State& state, const std::string& source, const ObjectKey& key);
/// Returns spec.nominalResources of the claim as in our last write, accepted or not; null where the
/// list is not ours.
const std::map<std::string, std::string>* nominal_of_ours(const State& state,
                                                          const std::string& claim);
/// Returns the digest of an intent's verb and body without uid and resourceVersion: equal for a
/// repetition of the same wish.
Digest wish_of(const PatchIntended& intent);

/// A write without an answer counts as not done if the watch has not reported it by then. Repeating
/// it is harmless: an apply carries the uid and resourceVersion of what it was derived from.
inline constexpr Duration kDoubt = seconds(10);

}  // namespace fairlead
