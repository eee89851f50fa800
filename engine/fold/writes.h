// Our own writes, as the log tells of them: intended, answered, seen again. Internal to the fold,
// except the queries.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

void note_intent(State& state, const PatchIntended& intent, Seq seq);
void note_accepted(State& state, const PatchAccepted& accepted);
void note_rejected(State& state, const PatchRejected& rejected, Seq seq);
void note_unknown(State& state, const PatchUnknown& unknown);
/// The watch shows the object: an awaited version may have come, an unanswered write may be
/// recognised.
void note_observed(State& state, const std::string& source, const ObjectObserved& seen);
void note_gone(State& state, const std::string& source, const ObjectKey& key);
/// A list of the kind is complete and counts: what it does not show of our writes is lost, with a
/// store that was restored since.
void note_listed(State& state, const std::string& source, Kind kind);
/// The object may be written again.
void reach_write_deadline(State& state, const WriteKey& key);
/// Accepted values of the cluster have changed: its claims' statuses are looked at again when they
/// have held still for claims.statusInterval, unless they are written before.
void await_still_numbers(State& state, const std::string& cluster);
/// A new leader: what an earlier one sent without an answer may or may not have happened.
void doubt_outstanding(State& state);

WriteKey write_key(const PatchIntended& intent);
/// A conflict: the object is derived again at once, from what the watch shows.
inline bool is_conflict(const Refusal& refusal) { return refusal.intent == Digest{}; }
/// Our writes of an object of the hub, its status left out; null if there were none.
const WriteState* write_of(const State& state, const ObjectKey& object);
/// Our writes of its status; null if there were none.
const WriteState* status_write_of(const State& state, const ObjectKey& object);
/// A write of the object is unanswered, or the watch has not shown its result yet.
bool write_pending(const State& state, const WriteKeyView& key);
/// The API server's refusal of our last write of it; null where there is none, or a conflict only.
const Refusal* refusal_of(const State& state, const ObjectKey& object);
/// The write interval in force for an object: the longest that the claims which feed it ask for.
Duration write_interval(const State& state, const WriteKeyView& key);
/// The ingest stage must log the next sight of this object even if nothing in it changed.
bool awaits_sight(const State& state, const std::string& source, const ObjectKey& key);
/// spec.nominalResources of the claim as our last write has it, accepted or not; null where the
/// list is not ours.
const std::map<std::string, std::string>* nominal_of_ours(const State& state,
                                                          const std::string& claim);
/// Digest of what an intent wants, without uid and resourceVersion: equal for a blind repetition.
Digest wish_of(const PatchIntended& intent);

/// A write without an answer counts as not done if the watch has not shown it by then. Repeating it
/// is harmless: an apply carries the uid and resourceVersion of what it was derived from.
inline constexpr Duration kDoubt = seconds(10);
/// After a conflict the object is derived again once the watch shows it. Should it show nothing,
/// the write is tried again after this, doubling up to kRefusalRetryMax.
inline constexpr Duration kConflictRetry = seconds(1);
/// A refused write is tried again after this, doubling likewise.
inline constexpr Duration kRefusalRetry = seconds(5);
inline constexpr Duration kRefusalRetryMax = minutes(10);

}  // namespace fairlead
