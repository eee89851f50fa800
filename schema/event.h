// One record of the log.
//
// An event is a past-tense fact with its position (seq), its time (log_time) and its source. The
// fold has no other input. The stored form is schema/event.capnp; codec.h converts between the two.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/time.h"
#include "engine/base/types.h"
#include "schema/admission.h"
#include "schema/configuration.h"
#include "schema/facts.h"
#include "schema/kind.h"
#include "schema/spec_field.h"

namespace fairlead {

/// The origin of a fact: "hub", the name of a member cluster, or "tenant/" and the name of a tenant
/// for an API server; "self" for Fairlead itself.
using SourceName = std::string;
inline constexpr std::string_view kHub = "hub";
inline constexpr std::string_view kSelf = "self";
inline constexpr std::string_view kTenantPrefix = "tenant/";

/// Whether the source is a tenant's API server. No cluster's name contains a slash.
constexpr bool is_tenant(std::string_view source) { return source.starts_with(kTenantPrefix); }
/// Returns the source of the tenant called `name`.
inline SourceName tenant_source(std::string_view name) {
  return std::string(kTenantPrefix).append(name);
}
/// Returns the name of the tenant whose source this is.
constexpr std::string_view tenant_of(std::string_view source) {
  return source.substr(kTenantPrefix.size());
}

/// Returns whether Fairlead reads this kind of this API server.
constexpr bool is_read_from(std::string_view source, Kind kind) {
  return info(kind).has(is_tenant(source) ? kIsOfTenant : source == kHub ? kIsOfHub : kIsOfMember);
}

/// Names one object of one API server, without its version.
struct ObjectKey {
  Kind kind{};
  std::string namespace_;
  std::string name;

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// A process began to write the log: the first event of its epoch.
struct EpochStarted {
  std::string identity;         ///< of the process that writes the epoch
  std::string program_version;  ///< of its binary
  std::uint32_t fold_version = 0;
  std::uint32_t schema_version = 0;

  friend bool operator==(const EpochStarted&, const EpochStarted&) = default;
};
/// The configuration that is in force from here on.
struct ConfigChanged {
  Configuration configuration;

  friend bool operator==(const ConfigChanged&, const ConfigChanged&) = default;
};

/// A list of (source, kind) is complete, or a bookmark proved that the stream is alive.
/// Without a kind: every capacity source of the cluster named by `cluster`.
struct SourceSynced {
  std::optional<Kind> kind;
  std::string cluster;           ///< set only where kind is not
  std::string resource_version;  ///< up to which nothing is awaited; empty: a sign of life

  friend bool operator==(const SourceSynced&, const SourceSynced&) = default;
};
/// Why the last observation of a source may be outdated.
enum class StaleCause : std::uint8_t {
  silence,
  too_many,          ///< it has more objects than are read; only those that were read count
  too_many_changes,  ///< its objects change more often than is read
};
/// The stream has been silent longer than staleAfter, or is not read any further (`cause`).
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

/// A field manager that owns what decides an observed object's quota (SpecField), as its
/// metadata.managedFields says.
struct FieldWriter {
  std::string manager;
  std::string operation;    ///< "Apply" or "Update"
  std::string subresource;  ///< empty: the object itself
  std::string time;         ///< of its last write, RFC 3339 as the API server wrote it
  /// Which it owns, a bit each. 0 in a record without it, which names the owners of
  /// spec.resourceGroups alone.
  std::uint32_t fields = 0;

  bool owns(SpecField field) const {
    return fields == 0 ? field == SpecField::resource_groups : (fields & bit_of(field)) != 0;
  }
  friend bool operator==(const FieldWriter&, const FieldWriter&) = default;
};

/// An object exists in this state, as a list or a watch reported it.
struct ObjectObserved {
  ObjectKey key;
  std::string version;  ///< API version in which the object was read, e.g. "v1beta2"
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Facts facts;
  Digest raw_digest;  ///< of the raw object without managedFields; zero if not kept
  /// ClusterQueues and Cohorts only: who owns what decides their quota, in the order of
  /// managedFields. Empty in records of older versions. For questions about the past; the fold does
  /// not read it.
  std::vector<FieldWriter> writers{};
  /// When the object was in this state, where the event was held back (usage.interval): no later
  /// than the event. 0: at the time of the event.
  LogTime read{};

  friend bool operator==(const ObjectObserved&, const ObjectObserved&) = default;
};
/// An object was deleted, or is missing from a complete list.
struct ObjectGone {
  ObjectKey key;
  std::string uid;
  std::string resource_version;

  friend bool operator==(const ObjectGone&, const ObjectGone&) = default;
};

/// Time has reached `deadline`: the fold runs every internal deadline up to it. The next event is
/// strictly later.
struct TimerFired {
  LogTime deadline;

  friend bool operator==(const TimerFired&, const TimerFired&) = default;
};

/// The kind of request of a write.
enum class Verb : std::uint8_t { apply, apply_status, create, patch, remove };
template <>
inline constexpr std::array<std::pair<std::string_view, Verb>, 5> kWordsOf<Verb>{{
    {"apply", Verb::apply},
    {"apply-status", Verb::apply_status},
    {"create", Verb::create},
    {"patch", Verb::patch},
    {"delete", Verb::remove},
}};

/// Whether a write lowers quota. Such a write is sent before all others and does not wait for the
/// write interval: until it is stored, Kueue admits workloads against capacity that is gone.
enum class Direction : std::uint8_t { lowers, other };
/// The order of the writes of one moment that have the same direction.
enum class Rank : std::uint8_t {
  shrink,
  claim_life,
  member,
  grow,
  worker,
  worker_list,
  status,
  pod,
  release
};

/// Why an intent exists, for operators and for replay. Nothing is decided by it.
struct Reason {
  std::string rule;          ///< e.g. "claims/shrink"
  std::vector<Seq> because;  ///< events that decided it, ascending
  std::string text;

  friend bool operator==(const Reason&, const Reason&) = default;
};

/// A contribution of one claim to one pair in a ClusterQueue write. The fold reads it back from its
/// own intent, because a body has only the sums.
struct Contribution {
  std::string cluster;
  std::string flavor;
  std::string resource;  ///< canonical name
  Amount amount = 0;

  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// One write that is about to be sent. Outcomes name it by the seq of this event.
struct PatchIntended {
  std::string cluster;  ///< target API server, as a SourceName
  Verb verb{};
  ObjectKey target;
  std::string version;
  std::string field_manager;
  bool force = false;
  std::string uid;               ///< of the observed object; empty for a create
  std::string resource_version;  ///< in the request; empty for a create
  std::string body;              ///< canonical JSON, exact bytes sent; empty for a delete
  Reason reason;
  std::vector<Contribution> contributions;  ///< ClusterQueue writes only, sorted
  std::vector<ResourceGroup> overlaid;      ///< ClusterQueue writes only: the groups as observed
  std::optional<Facts> expected;  ///< the target's facts after this write; none for a delete
  /// The order of writes: those of one moment are logged by direction, then rank; what waits to be
  /// sent goes by direction, then seq. So writes of one moment are sent as they are logged.
  Direction direction = Direction::other;
  Rank rank = Rank::shrink;

  friend bool operator==(const PatchIntended&, const PatchIntended&) = default;
};
/// The API server accepted the write.
struct PatchAccepted {
  Seq intent;
  int http_code = 0;
  std::string uid;
  std::string resource_version;  ///< empty: the stream had already reported this version or a later

  friend bool operator==(const PatchAccepted&, const PatchAccepted&) = default;
};
/// Why a write was refused: it decides when the same write is sent again.
enum class RejectionCause : std::uint8_t {
  content,  ///< the write itself, or a conflict: the same write fails again
  outage,   ///< the server or a webhook that it asks did not answer
  rights,   ///< RBAC: the API server does not let Fairlead write the object
};
/// The write was refused, or a newer one replaced it before it was sent.
struct PatchRejected {
  Seq intent;
  int http_code = 0;
  std::string reason;  ///< Status.reason and message, bounded
  RejectionCause cause = RejectionCause::content;

  friend bool operator==(const PatchRejected&, const PatchRejected&) = default;
};
/// No answer came: the write may or may not have happened.
struct PatchUnknown {
  Seq intent;
  std::string reason;

  friend bool operator==(const PatchUnknown&, const PatchUnknown&) = default;
};

/// A snapshot was saved: of the state before this event, or, where the hub went on meanwhile, of
/// the state before an earlier one of the same run that names the same `events` and no state.
struct Checkpoint {
  Digest state;              ///< none: it is still being saved
  std::uint64_t events = 0;  ///< number of events up to that state
  Digest log;                ///< hash chain up to the group commit that ends there

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// The webhook denied a request, or admitted it because of an override. For the audit: the fold
/// ignores it. A request that was a dry run leaves no such event.
struct AdmissionDecided {
  std::string request_uid;  ///< of the AdmissionReview
  std::string user;         ///< who asked, as the API server authenticated them
  AdmissionOperation operation{};
  ObjectKey object;
  std::vector<AdmissionRule> rules;  ///< those that deny, in their order
  AdmissionOutcome outcome{};
  std::string reason;  ///< the override's reason, bounded; empty where it was denied

  friend bool operator==(const AdmissionDecided&, const AdmissionDecided&) = default;
};

/// What Fact is one of. Stored as a union with the same order.
using AnyFact = std::variant<EpochStarted, ConfigChanged, SourceSynced, SourceStale, SourceLost,
                             ObjectObserved, ObjectGone, TimerFired, PatchIntended, PatchAccepted,
                             PatchRejected, PatchUnknown, Checkpoint, AdmissionDecided>;

/// What an event says. A class for the same reason as Facts; event.cpp has its members.
class Fact : public AnyFact {
 public:
  using Base = AnyFact;
  using AnyFact::AnyFact;
  using AnyFact::operator=;

  Fact();
  Fact(const Fact& other);
  Fact(Fact&& other) noexcept;
  Fact& operator=(const Fact& other);
  Fact& operator=(Fact&& other) noexcept;
  ~Fact();

  friend bool operator==(const Fact& a, const Fact& b);
};

struct Event {
  Seq seq;
  LogTime log_time;
  Epoch epoch;
  SourceName source;  ///< of the fact
  Seq cause;          ///< the event that this one answers; 0 if none
  Fact fact;

  friend bool operator==(const Event&, const Event&) = default;
};

/// An event without the seq, log_time and epoch that the log assigns.
struct EventDraft {
  SourceName source;
  Seq cause;
  Fact fact;
  std::string
      raw{};  ///< the raw object, stored beside an ObjectObserved for operators; empty: not stored
};

}  // namespace fairlead
