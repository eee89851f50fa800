// Debounce layer 0: bursts of one object coalesce to the newest.
//
// The first change of an object passes at once; later ones within the interval wait for its end,
// and only the newest of them is then looked at. Changes at the very time of the one that passed
// pass too.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/time.h"
#include "engine/ingest/object_table.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// Holds back bursts of capacity objects (Node, ClusterMetrics, ManagedCluster); everything else
/// passes. Holds at most one fact an object.
class Coalescer {
 public:
  /// `fact` if it may be looked at now, else nullopt: it is held.
  std::optional<WatchFact> offer(WatchFact fact, LogTime now);
  /// What was offered at `now` changed something: the object's interval starts.
  void passed(const WatchFact& fact, LogTime now, Duration interval);
  /// When the first held fact is due; kForever if none is held.
  LogTime next_due() const;
  /// Takes out what is due at `now`, in (time, object) order.
  std::vector<WatchFact> take_due(LogTime now);

 private:
  using Key = std::pair<SourceName, ObjectKey>;
  struct Entry {
    LogTime passed_at;
    LogTime opens;
    std::optional<WatchFact> held;
  };
  /// The fact that is held, if one is, is not due any more.
  void release(const SourceName& source, const ObjectKey& object, Entry& entry);

  ObjectTable<Entry> entries_;
  std::set<std::pair<LogTime, Key>> due_;  ///< of the entries that hold a fact
};

}  // namespace fairlead
