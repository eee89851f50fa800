// A moment of the past, and lookups around it. Internal to the audit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/fold/queues/queues.h"
#include "engine/fold/state.h"
#include "replay/audit/audit.h"

namespace fairlead {

/// A state of the past whose moment is closed, and the position that was asked for.
struct Moment {
  State state;
  LogTime asked;       ///< the moment; for an event, its own time
  LogTime event_time;  ///< time of the last event that was folded
};

/// Folds up to `position`. Fails with `bad_input` if the log begins later or ends before it, with
/// `corrupt` if the log is damaged before it.
Result<Moment> moment_at(const AuditSource& source, const AuditPosition& position);
/// {"seq", "time", "eventTime"}.
Json as_of_json(const Moment& moment);
/// {"seq", "digest"} of the configuration in force.
Json configuration_json(const State& state);

/// Reads single events of the past, each once.
class EventLookup {
 public:
  explicit EventLookup(const ReadableLog& log) : log_(log) {}
  const ReadableLog& log() const { return log_; }
  /// Reads these events in one walk, because each event that is read alone costs the decoding of
  /// its whole group commit. A hint only: a caller that knows which events it will ask for calls it
  /// first.
  void expect(std::vector<Seq> seqs);
  /// Returns null if there is no such event, or if it was pruned.
  const Event* at(Seq seq);
  /// Returns {"seq", "time"}, with a null time if the event cannot be read, or {"seq", "time":
  /// null, "pruned": true} if the log no longer keeps it.
  Json place(Seq seq);

 private:
  const ReadableLog& log_;
  std::map<Seq, std::optional<Event>> read_;
};

/// `namespace/name`.
std::string name_of(const NamespacedName& id);
/// Whether a place names an event that was pruned.
bool is_pruned(const Json& place);

/// "Nodes", "BindingPolicies", "ClusterMetrics".
std::string plural_of(Kind kind);
/// Describes an event in a few words; for a node with the amount of `resource`.
std::string what_happened(const Event& event, const ResourceAliases& aliases,
                          const std::string& resource);

/// A pair that exists: its canonical key, and the resource as its queue spells it.
struct KnownPair {
  std::string queue;
  QuotaKey key;
  std::string spelled;
};
/// Fails with `bad_input`, naming what exists, if the queue or the pair is unknown at that moment.
Result<KnownPair> find_pair_named(const State& state, const AuditPair& pair);
/// A pair at a moment with its observed and its desired value: the start of `why` and `why-not`.
struct PairAtMoment {
  Moment moment;
  KnownPair pair;
  HubQuota quota;                 ///< what its claims add up to
  bool ours = false;              ///< a claim names it, or the last write was ours
  std::optional<Amount> current;  ///< last observed; nullopt if its queue has no such pair

  const State& state() const { return moment.state; }
  /// The text of an amount of its resource.
  Json text(std::optional<Int128> amount) const;
  /// The desired value; null if it is unknown or no claim asks for the pair.
  Json desired() const;
  /// {"kind", "asOf", "configuration", "queue", "flavor", "resource"}: the first fields of an
  /// answer.
  Json answer(const char* kind) const;
};
/// Fails with `bad_input` as moment_at and find_pair_named do.
Result<PairAtMoment> pair_at(const AuditSource& source, const AuditPair& pair,
                             const AuditPosition& as_of);

/// Fails with `bad_input` unless the queue exists, existed, or is named by a claim.
Result<void> check_queue_named(const State& state, const std::string& queue);
/// Returns every pair of a queue: those in its list, in the list's order, then those that only
/// claims name, then those that only its status.effectiveQuotas has.
std::vector<KnownPair> pairs_of_queue(const State& state, const std::string& queue);
/// The last observed nominalQuota of a pair; nullopt if its queue's list has none.
std::optional<Amount> current_nominal(const State& state, const KnownPair& pair);

/// Returns "a, b, c": the few of `names` that look most like `wanted`.
std::string nearby(const std::vector<std::string>& names, const std::string& wanted);

/// The time as RFC 3339 text, or null.
Json time_json(std::optional<LogTime> time);

}  // namespace fairlead
