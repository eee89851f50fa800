// What the connector hands to ingest: one thing that a list or watch stream said, already typed.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "schema/event.h"

namespace fairlead {

/// The text of an object as it came, and how what may be kept of it beside the log is made. Making
/// it takes longer than reading the object: only an event that is really logged pays for it.
struct RawObject {
  std::string text;  ///< empty if nothing is kept
  /// Pure; null if `text` is already what is kept.
  std::string (*kept_of)(std::string_view text) = nullptr;

  /// Canonical JSON without managedFields and without secrets; empty if nothing is kept.
  std::string kept() const { return kept_of != nullptr && !text.empty() ? kept_of(text) : text; }
};

/// An object is there in this state (ADDED, MODIFIED or an item of a list).
struct ObjectSeen {
  ObjectKey key;
  std::string version;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Facts facts;
  RawObject raw;
  bool went_back = false;  ///< older than what the same stream showed of it, and yet what stands
};

/// `newer` takes the place of `older`, an earlier state of the same object that nobody has looked
/// at: that the store went back in between stays said.
inline void supersede(const ObjectSeen& older, ObjectSeen& newer) {
  newer.went_back = newer.went_back || older.went_back;
}

/// An object was written without a change of anything that is kept of it: its facts and generation
/// are those of the last ObjectSeen of it from the same stream.
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
  bool went_back = false;  ///< it is older than what the stream showed: the store was restored
};

/// A bookmark: nothing changed, the stream is alive.
struct StreamAlive {
  Kind kind{};
  std::string resource_version;
};

/// What is known of the kind may be old (stale), or its server is no longer watched or refuses to
/// show the kind (lost).
struct StreamStale {
  Kind kind{};
  StaleCause cause = StaleCause::silence;
};
struct StreamLost {
  Kind kind{};
};

/// Kinds of the hub without which the rest of Fairlead works: where one may not be read, the hub
/// says so and goes on (without BindingPolicies only while none is to be written). A StreamLost of
/// them stands for a list that is not going to come.
constexpr bool may_stay_unread(Kind kind) {
  return is_of_multikueue_path(kind) || kind == Kind::binding_policy || kind == Kind::cohort;
}

/// One watch fact and the API server that said it ("hub" or the name of a member cluster).
struct WatchFact {
  SourceName source;
  std::variant<ObjectSeen, ObjectMissing, ListCompleted, StreamAlive, StreamStale, StreamLost,
               ObjectUnchanged>
      said;
};

}  // namespace fairlead
