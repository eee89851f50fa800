// The first list of each stream: what State holds from before the connection and the list does not
// name is gone. Later lists need no such pass: the reflector reports what vanished.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/packed_table.h"
#include "engine/fold/state.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

class FirstLists {
 public:
  /// Notes an offered fact: its object is in the list that is being read.
  void note(const WatchFact& fact);
  /// The list of `kind` at `source` is complete. If it is the first, returns the objects that State
  /// holds and that it does not name, in order.
  std::vector<WatchFact> completed(const State& state, const SourceName& source, Kind kind);
  /// `source` is connected anew: its next lists are the first ones again.
  void reconnected(const SourceName& source);

 private:
  using Stream = std::pair<SourceName, Kind>;
  std::set<Stream> complete_;
  struct Named {};
  std::map<Stream, PackedTable<Named>> named_;  ///< of streams whose first list is not complete
};

}  // namespace fairlead
