// A moment of the past, and looking up what is around it. Internal to the audit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/fold/queues.h"
#include "engine/fold/state.h"
#include "replay/audit.h"

namespace fairlead {

/// A state of the past that was decided, and what was asked for.
struct Moment {
  State state;
  LogTime asked;       ///< the moment; of an event, its own time
  LogTime event_time;  ///< of the last event that was folded
};

/// bad_input if the log begins later or ends before that seq, `corrupt` if it is damaged before.
Result<Moment> moment_at(const AuditSource& source, const AuditPosition& position);
/// {"seq", "time", "eventTime"}.
Json as_of_json(const Moment& moment);
/// {"seq", "digest"} of the configuration in force.
Json configuration_json(const State& state);

/// Single events of the past, each read once.
class EventLookup {
 public:
  explicit EventLookup(const EventLog& log) : log_(log) {}
  /// Reads these in one walk: events that are asked for one by one cost their group commit each
  /// time. Whoever knows what he is going to ask for says so first; nothing else changes.
  void expect(std::vector<Seq> seqs);
  /// Null if there is no such event (any more).
  const Event* at(Seq seq);
  /// {"seq", "time"}; the time is null where the event cannot be read. {"seq", "time": null,
  /// "pruned": true} where the log does not keep it any more.
  Json place(Seq seq);

 private:
  const EventLog& log_;
  std::map<Seq, std::optional<Event>> read_;
};

/// Whether a place says that its event is kept no more.
bool is_pruned(const Json& place);

/// "Nodes", "BindingPolicies", "ClusterMetrics".
std::string plural_of(Kind kind);
/// What an event says, in a few words. The amount of `resource` is told of nodes.
std::string what_happened(const Event& event, const ResourceAliases& aliases,
                          const std::string& resource);

/// A pair that exists: its canonical key, and the resource as its queue spells it.
struct KnownPair {
  std::string queue;
  QuotaKey key;
  std::string spelled;
};
/// bad_input names what exists if the queue or the pair is unknown at that moment.
Result<KnownPair> find_pair_named(const State& state, const AuditPair& pair);
/// A pair at a moment, as it stood and as it should have stood: where `why` and `why-not` begin.
struct PairAtMoment {
  Moment moment;
  KnownPair pair;
  HubQuota quota;                ///< what the claims make of it
  bool ours = false;             ///< a claim names it, or we wrote it last
  std::optional<Amount> stands;  ///< as last seen; nullopt if its queue's list has none

  const State& state() const { return moment.state; }
  /// An amount of its resource.
  Json text(std::optional<Int128> amount) const;
  /// What it should be; null where that is unknown or nobody asks for it.
  Json desired() const;
  /// {"kind", "asOf", "configuration", "queue", "flavor", "resource"}: how an answer begins.
  Json answer(const char* kind) const;
};
/// bad_input as moment_at and find_pair_named say.
Result<PairAtMoment> pair_at(const AuditSource& source, const AuditPair& pair,
                             const AuditPosition& as_of);

/// bad_input unless the queue exists, existed, or is named by a claim.
Result<void> check_queue_named(const State& state, const std::string& queue);
/// Every pair of a queue: those in its list, in the list's order, then those that claims name,
/// then those of its status.effectiveQuotas alone.
std::vector<KnownPair> pairs_of_queue(const State& state, const std::string& queue);
/// The nominalQuota of a pair as it was last seen; nullopt if its queue's list has none.
std::optional<Amount> standing(const State& state, const KnownPair& pair);

/// "a, b, c": those of `names` that look most like `wanted`, at most a handful.
std::string nearby(const std::vector<std::string>& names, const std::string& wanted);

/// null, or the time.
Json time_json(std::optional<LogTime> time);

}  // namespace fairlead
