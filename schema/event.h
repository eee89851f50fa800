// One record of the log.
//
// An event is a past-tense fact with its place (seq), its time (log_time) and where it came from.
// Everything that the fold knows reached it as one of these. The stored form is schema/event.capnp;
// codec.h turns one into the other.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/time.h"
#include "engine/base/types.h"
#include "schema/configuration.h"
#include "schema/facts.h"
#include "schema/kind.h"

namespace fairlead {

/// The API server a fact came from: "hub", the name of a member cluster, or "self" for our own
/// doing.
using SourceName = std::string;
inline constexpr std::string_view kHub = "hub";
inline constexpr std::string_view kSelf = "self";

/// Names one object of one API server, without its version.
struct ObjectKey {
  Kind kind{};
  std::string namespace_;
  std::string name;

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

struct EpochStarted {
  std::string identity;         ///< who leads
  std::string program_version;  ///< of the binary that wrote what follows
  std::uint32_t fold_version = 0;
  std::uint32_t schema_version = 0;

  friend bool operator==(const EpochStarted&, const EpochStarted&) = default;
};
struct ConfigChanged {
  Configuration configuration;

  friend bool operator==(const ConfigChanged&, const ConfigChanged&) = default;
};

/// A list of (source, kind) is complete, or a bookmark or relist showed the stream alive. Without a
/// kind: every capacity source of the cluster named by `cluster`.
struct SourceSynced {
  std::optional<Kind> kind;
  std::string cluster;  ///< set only where kind is not
  std::string resource_version;

  friend bool operator==(const SourceSynced&, const SourceSynced&) = default;
};
/// Why what is known of a source may be old.
enum class StaleCause : std::uint8_t {
  silence,
  too_many,          ///< it has more objects than are read; those that were told are all that count
  too_many_changes,  ///< its objects change more often than is read
};
/// The stream has been silent longer than staleAfter, or is not read on (`cause`).
struct SourceStale {
  std::optional<Kind> kind;
  std::string cluster;
  StaleCause cause = StaleCause::silence;

  friend bool operator==(const SourceStale&, const SourceStale&) = default;
};
/// The stream has been silent longer than lostAfter, or the server is no longer watched.
struct SourceLost {
  std::optional<Kind> kind;
  std::string cluster;

  friend bool operator==(const SourceLost&, const SourceLost&) = default;
};

struct ObjectObserved {
  ObjectKey key;
  std::string version;  ///< API version the object was read in, e.g. "v1beta2"
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Facts facts;
  Digest raw_digest;  ///< of the raw object without managedFields; zero if not kept

  friend bool operator==(const ObjectObserved&, const ObjectObserved&) = default;
};
struct ObjectGone {
  ObjectKey key;
  std::string uid;
  std::string resource_version;

  friend bool operator==(const ObjectGone&, const ObjectGone&) = default;
};

/// Time has reached `deadline`: every internal deadline up to it has run. The next event is
/// strictly later.
struct TimerFired {
  LogTime deadline;

  friend bool operator==(const TimerFired&, const TimerFired&) = default;
};

enum class Verb : std::uint8_t { apply, apply_status, create, patch, remove };
/// As printed and logged: apply, apply-status, create, patch, delete.
std::string_view to_string(Verb verb);
std::optional<Verb> parse_verb(std::string_view word);

/// Why an intent exists, for people and for replay.
struct Reason {
  std::string rule;          ///< e.g. "claims/shrink"
  std::vector<Seq> because;  ///< events that decided it, ascending
  std::string text;

  friend bool operator==(const Reason&, const Reason&) = default;
};

/// A contribution of one claim to one pair of a ClusterQueue write: what the fold needs back from
/// its own intent.
struct Contribution {
  std::string cluster;
  std::string flavor;
  std::string resource;  ///< canonical name
  Amount amount = 0;

  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// One write that we are about to send. `id` is unique in the log: the seq of this event.
struct PatchIntended {
  std::string cluster;  ///< target API server: "hub" or a member
  Verb verb{};
  ObjectKey target;
  std::string version;
  std::string field_manager;
  bool force = false;
  std::string uid;               ///< of the object that was seen; empty for a create
  std::string resource_version;  ///< that the request carries; empty for a create
  std::string body;              ///< canonical JSON, exact bytes sent; empty for a delete
  Reason reason;
  std::vector<Contribution> contributions;  ///< ClusterQueue writes only, sorted
  std::vector<ResourceGroup> overlaid;      ///< ClusterQueue writes only: the list that was read
  std::optional<Facts>
      expected;  ///< the target's facts as this write leaves them; none for a delete

  friend bool operator==(const PatchIntended&, const PatchIntended&) = default;
};
struct PatchAccepted {
  Seq intent;
  int http_code = 0;
  std::string uid;
  std::string resource_version;

  friend bool operator==(const PatchAccepted&, const PatchAccepted&) = default;
};
struct PatchRejected {
  Seq intent;
  int http_code = 0;
  std::string reason;  ///< Status.reason and message, bounded

  friend bool operator==(const PatchRejected&, const PatchRejected&) = default;
};
/// The answer never came: the write may or may not have happened.
struct PatchUnknown {
  Seq intent;
  std::string reason;

  friend bool operator==(const PatchUnknown&, const PatchUnknown&) = default;
};

struct Checkpoint {
  Digest state;
  std::uint64_t events = 0;  ///< how many events precede this one
  Digest log;                ///< hash chain up to the group commit before this one

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// Stored as a union with the same order.
using Fact = std::variant<EpochStarted, ConfigChanged, SourceSynced, SourceStale, SourceLost,
                          ObjectObserved, ObjectGone, TimerFired, PatchIntended, PatchAccepted,
                          PatchRejected, PatchUnknown, Checkpoint>;

struct Event {
  Seq seq;
  LogTime log_time;
  Epoch epoch;
  SourceName source;  ///< "hub", a member cluster, or "self"
  Seq cause;          ///< the event that made us do this; 0 if none
  Fact fact;

  friend bool operator==(const Event&, const Event&) = default;
};

/// An event before the log gave it seq, log_time and epoch.
struct EventDraft {
  SourceName source;
  Seq cause;
  Fact fact;
  std::string
      raw{};  ///< the raw object, to be kept beside an ObjectObserved for people; empty: not kept
};

}  // namespace fairlead
