// Debounce layer 0: bursts of changes of one object coalesce to the newest.
//
// The first change of an object passes at once; later ones within the interval wait for its end,
// and only the newest of them passes then. Changes at the log time of the one that passed pass too.
// A change that is urgent passes within the interval, in place of what was held back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/time.h"
#include "engine/ingest/object_table.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// Whether a fact may wait for the end of its object's interval.
enum class Urgency : std::uint8_t { may_wait, at_once };

/// Holds back bursts of capacity objects (Node, ClusterMetrics, ManagedCluster) and of
/// ClusterQueues; all other facts pass. Holds at most one fact for each object. All times are log
/// time.
class Coalescer {
 public:
  /// Returns false if `fact` may pass now; else moves it out, holds it and returns true. A held
  /// ClusterQueue is marked with the time at which it was read. An ObjectUnchanged of a held object
  /// becomes the held fact, at its version.
  bool hold_back(WatchFact& fact, LogTime now, Urgency urgency = Urgency::may_wait);
  /// Starts the object's interval at `now`, because `fact` passed and was logged.
  void passed(const WatchFact& fact, LogTime now, Duration interval);
  /// Returns when the first held fact is due; kForever if none is held.
  LogTime next_due() const;
  /// Dequeues the facts that are due at `now`, in (time, object) order.
  std::vector<WatchFact> dequeue_due(LogTime now);
  /// Drops what ended before `now`: an interval that is over keeps nothing back.
  void forget_over(LogTime now);
  /// The number of objects that have an interval, some of which may be over.
  std::size_t size() const { return entries_.size(); }

 private:
  using Key = std::pair<SourceName, ObjectKey>;
  struct Entry {
    LogTime passed_at;
    LogTime opens;
    std::unique_ptr<WatchFact> held;  ///< of most objects none: a fact takes a kilobyte
  };
  bool absorb(WatchFact& fact, const ObjectUnchanged& same, LogTime now, Urgency urgency);
  /// Drops the held fact of an entry, if there is one, and its due time.
  void release(const SourceName& source, const ObjectKey& object, Entry& entry);

  ObjectTable<Entry> entries_;
  std::set<std::pair<LogTime, Key>> due_;  ///< of the entries that hold a fact
  /// The ends of the intervals, in the order in which they began. Objects may have been dropped
  /// since, or have begun another.
  std::deque<std::pair<LogTime, Key>> ends_;
};

}  // namespace fairlead
