// Sums of what the hub's ClusterQueues were granted and used: the counters
// fairlead_queue_*_resource_seconds_total, and when the streams that they depend on are silent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/members/member_state.h"
#include "engine/fold/rooms.h"
#include "engine/fold/usage/usage_state.h"

namespace fairlead {

/// Returns the amounts of each pair that a queue's quota or status names. An amount that the queue
/// does not give is 0. The groups of status.effectiveQuotas, where present, replace the spec's.
std::map<UsePair, UseAmounts> pair_amounts(const ClusterQueueFacts& queue);
std::map<UsePair, UseAmounts> pair_amounts(const MemberQueue& queue);
/// An amount of `resource` in milli-units.
Int128 milli_units(const std::string& resource, Amount amount);

/// When an observation counts from: ObjectObserved::read, or `now` where that is 0. Never more than
/// kReadBack before `now`.
LogTime counts_from(const ObjectObserved& seen, LogTime now);

/// Takes in a ClusterQueue of the hub. What was added for the time from counts_from() on is not
/// taken back: nothing had been added, because sums are added when the queue changes.
void observe_queue_use(UsageRoom state, const ObjectObserved& seen);
/// Drops the sums of a queue that is gone.
void forget_queue_use(UsageRoom state, const std::string& queue);

/// What an event says about whether an API server is observed.
struct SilenceSign {
  enum class Says : std::uint8_t { silent, heard };
  SourceName source;
  std::optional<Kind> kind;  ///< of the stream; none: all of the server
  Says says{};

  friend bool operator==(const SilenceSign&, const SilenceSign&) = default;
};
/// Returns what `event` says; nullopt: nothing. A stream that is not read any further because there
/// are too many objects is not silent: those that are read count.
std::optional<SilenceSign> silence_sign(const Event& event);
/// Streams that are silent.
using SilentStreams = std::set<std::pair<SourceName, Kind>>;
void apply_sign(SilentStreams& silent, const SilenceSign& sign);
/// Whether ClusterQueues or Workloads of an API server are not observed. Of a member, its Nodes are
/// the stream whose silence is logged; of the hub, its ClusterQueues.
bool is_unobserved(const SilentStreams& silent, const SourceName& source, Kind kind);

/// Takes in what an event says about that.
void observe_sign(UsageRoom state, const Event& event);
/// Takes in that a process began to write the log: no hub ran since the last event.
void observe_start(UsageRoom state);

/// The counters of one pair.
struct QueueCounter {
  std::string queue;
  UsePair pair;
  UseSums sums;
  Millis unknown = 0;
  LogTime created;

  friend bool operator==(const QueueCounter&, const QueueCounter&) = default;
};
/// Returns the counters of all pairs up to a time that is not after the last event, sorted by
/// queue, flavor and resource.
std::vector<QueueCounter> queue_counters(const UsageTables& usage, LogTime until);

}  // namespace fairlead
