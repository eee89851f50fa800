// Shared by the tests of ingest.
#pragma once

#include <string>
#include <utility>

#include "engine/fold/evolve.h"
#include "engine/ingest/ingest.h"

namespace fairlead {

// Ingests what an API server reports, and folds it if it is logged.
struct IngestBench {
  State state;
  Ingest ingest;
  int version = 0;

  bool take(const SourceName& source, WatchFact fact) {
    const auto draft = ingest.draft(state, fact);
    if (!draft) return false;
    DirtySet dirty;
    Event event;
    event.seq = next(state.seq);
    event.log_time = state.now;
    event.source = source;
    event.fact = draft->fact;
    evolve(state, event, dirty);
    return true;
  }
  bool shows(const SourceName& source, Kind kind, const std::string& name, Facts facts) {
    return take(source, {source, ObjectSeen{{kind, "", name},
                                            "v1beta2",
                                            "u",
                                            std::to_string(++version),
                                            1,
                                            std::move(facts),
                                            {}}});
  }
  bool misses(const SourceName& source, Kind kind, const std::string& name) {
    return take(source, {source, ObjectMissing{{kind, "", name}, "u", std::to_string(++version)}});
  }
};

}  // namespace fairlead
