// The part of State about use over time: of each pair of the hub's ClusterQueues the sums of what
// it was granted and used, from the pair's first sight on, and which streams are silent.
//
// A snapshot holds it with the rest of State, so the sums outlive restarts and pruning. The sums of
// a span, and all other reports, are made from the log (replay/usage/).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/base/time.h"
#include "schema/event.h"

namespace fairlead {

/// Log time in whole milliseconds since 1970, rounded down.
using Millis = std::int64_t;

constexpr Millis millis_of(LogTime time) {
  constexpr std::int64_t kNanos = 1'000'000;
  return time.ns / kNanos - (time.ns % kNanos < 0 ? 1 : 0);
}

/// A (flavor, resource) as a ClusterQueue spells it.
using UsePair = std::pair<std::string, std::string>;

/// What a queue says of a pair at one time, in milli-units: thousandths of a core, byte or device.
struct UseAmounts {
  Int128 nominal = 0;   ///< the effective nominal quota
  Int128 used = 0;      ///< flavorsUsage.total
  Int128 reserved = 0;  ///< flavorsReservation.total
  Int128 borrowed = 0;  ///< flavorsUsage.borrowed: what Kueue itself calls borrowed

  friend bool operator==(const UseAmounts&, const UseAmounts&) = default;
};

/// Integrals over log time, in milli-units x milliseconds. Own use is granted - idle.
struct UseSums {
  Int128 granted = 0;
  Int128 used = 0;
  Int128 borrowed = 0;
  Int128 idle = 0;

  /// Adds what `amounts` give in so many milliseconds.
  void add(const UseAmounts& amounts, Millis span);
  friend bool operator==(const UseSums&, const UseSums&) = default;
};

/// Counts the log time in which a stream was read. It stops while the API server is silent or no
/// hub runs. It keeps its starts and stops of the last kReadBack: an observation may count from a
/// time before its event.
struct KnownClock {
  struct Change {
    Millis at = 0;
    Millis known = 0;  ///< the time counted until then
    bool runs = true;  ///< from then on

    friend bool operator==(const Change&, const Change&) = default;
  };
  std::vector<Change> changes;  ///< ascending; none: it has run since 0

  /// Stops or starts the clock at `at`, which is not before the last change.
  void stop(Millis at);
  void start(Millis at);
  /// What the clock shows at a time that is not earlier than the first change.
  Millis shown_at(Millis at) const;
  bool runs() const { return changes.empty() || changes.back().runs; }

  friend bool operator==(const KnownClock&, const KnownClock&) = default;
};

/// No observation counts from a time that is further than this before its event.
inline constexpr Millis kReadBack = 3'600'000;

/// The sums of one pair up to QueueUse::since.
struct PairUse {
  UseAmounts amounts;
  UseSums sums;
  Millis unknown = 0;
  LogTime created;      ///< first sight of the pair at this queue
  bool present = true;  ///< in its quota or status; else nothing is added

  friend bool operator==(const PairUse&, const PairUse&) = default;
};

/// A ClusterQueue of the hub. Another uid is another queue, whose sums begin anew.
struct QueueUse {
  std::string uid;
  Millis since = 0;  ///< up to when the sums are
  Millis known = 0;  ///< what UsageTables::hub showed then
  std::map<UsePair, PairUse> pairs;

  friend bool operator==(const QueueUse&, const QueueUse&) = default;
};

struct UsageTables {
  std::map<std::string, QueueUse> queues;
  KnownClock hub;  ///< of the hub's ClusterQueues
  /// The streams of ClusterQueues and Workloads that are silent.
  std::set<std::pair<SourceName, Kind>> silent;
  std::optional<LogTime> last_event;  ///< before the present one

  friend bool operator==(const UsageTables&, const UsageTables&) = default;
};

}  // namespace fairlead
