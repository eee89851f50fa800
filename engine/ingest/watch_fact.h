// The input of ingest: one fact that a list or watch stream reported, already typed.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/event.h"

namespace fairlead {

/// The text of an object as it was received, and the function that makes the stored form of it.
/// That costs more than decoding the object, so it is done only for an event that is logged.
struct RawObject {
  std::string text;  ///< empty if nothing is stored
  /// Pure; null if `text` already has the stored form.
  std::string (*kept_of)(std::string_view text) = nullptr;

  /// Returns the stored form: canonical JSON without managedFields and without secrets; empty if
  /// nothing is stored.
  std::string kept() const { return kept_of != nullptr && !text.empty() ? kept_of(text) : text; }
};

/// An object exists in this state (ADDED, MODIFIED or an item of a list).
struct ObjectSeen {
  ObjectKey key;
  std::string version;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Facts facts;
  RawObject raw;
  bool went_back = false;  ///< current, although the same stream reported a newer version before
  /// Who owns spec.resourceGroups: kept in the event of a change of facts, and no change by itself.
  std::vector<FieldWriter> writers{};
  LogTime read{};  ///< when it was offered, where it was held back since (coalescer.h)
};

/// Marks that `newer` replaces `older`, an earlier state of the same object that ingest has not
/// processed: `newer` inherits the mark that the store went back.
inline void supersede(const ObjectSeen& older, ObjectSeen& newer) {
  newer.went_back = newer.went_back || older.went_back;
}

/// An object has a new version without a change of its facts: facts and generation are as in the
/// last ObjectSeen of it from the same stream.
struct ObjectUnchanged {
  ObjectKey key;
  std::string version;
  std::string uid;
  std::string resource_version;
};

/// An object is gone (DELETED, or missing from a completed relist).
struct ObjectMissing {
  ObjectKey key;
  std::string uid;               ///< empty if unknown
  std::string resource_version;  ///< empty if unknown
};

/// A list of this kind is complete.
struct ListCompleted {
  Kind kind{};
  std::string resource_version;
  bool went_back = false;  ///< older than what the stream reported before: the store was restored
};

/// A bookmark: nothing changed, the stream is alive.
struct StreamAlive {
  Kind kind{};
  std::string resource_version;
};

/// The observations of the kind may be outdated (stale), or its server is no longer watched or
/// refuses to list the kind (lost).
struct StreamStale {
  Kind kind{};
  StaleCause cause = StaleCause::silence;
};
struct StreamLost {
  Kind kind{};
};

/// One watch fact and the API server that reported it.
struct WatchFact {
  SourceName source;
  std::variant<ObjectSeen, ObjectMissing, ListCompleted, StreamAlive, StreamStale, StreamLost,
               ObjectUnchanged>
      said;
};

}  // namespace fairlead
