// What State has of our writes: of one object, by its key.
#pragma once

#include <map>
#include <string>

#include "engine/fold/deadlines.h"
#include "engine/fold/rooms.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

WriteKey write_key(const PatchIntended& intent);
/// Whether the refusal was a conflict: the object is derived again once the watch reports it.
inline bool is_conflict(const Refusal& refusal) { return refusal.intent == Digest{}; }
/// Returns our writes of an object or a status; null if there were none.
const WriteState* find_write(const WriteTables& writes, const WriteKeyView& key);
/// Returns our writes of an object of the hub, without its status; null if there were none.
const WriteState* write_of(const WriteTables& writes, const ObjectKey& object);
/// Returns our writes of its status; null if there were none.
const WriteState* status_write_of(const WriteTables& writes, const ObjectKey& object);
/// Whether a write of the object is unanswered, or the watch has not reported its result yet.
bool write_pending(const WriteTables& writes, const WriteKeyView& key);
/// Returns the API server's refusal of our last write of it; null if there is none, or only a
/// conflict.
const Refusal* refusal_of(const WriteTables& writes, const ObjectKey& object);
/// Whether ingest must log the next observation of this object even if nothing in it changed.
bool awaits_observation(const WriteTables& writes, const std::string& source, const ObjectKey& key);
/// Returns spec.nominalResources that the intent writes; null if it writes none.
const std::map<std::string, std::string>* nominal_in(const PatchIntended& intent);
/// Returns spec.nominalResources of the claim as in our last write, accepted or not; null where the
/// list is not ours.
const std::map<std::string, std::string>* nominal_of_ours(StateView<const WriteTables> state,
                                                          const std::string& claim);
/// Returns the digest of an intent's verb and body without uid and resourceVersion: equal for a
/// repetition of the same wish.
Digest wish_of(const PatchIntended& intent);

/// A write without an answer counts as not done if the watch has not reported it by then. Repeating
/// it is harmless: an apply carries the uid and resourceVersion of what it was derived from.
inline constexpr Duration kDoubt = seconds(10);

}  // namespace fairlead
