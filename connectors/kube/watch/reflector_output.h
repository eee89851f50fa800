// What a reflector returns for one input: the effects that its driver carries out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kube/watch/diagnostic_line.h"
#include "engine/base/time.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

using ReportedFacts = std::vector<decltype(WatchFact::said)>;

/// A request to make. At most one is outstanding; a new one, or `cancel`, replaces it.
struct ReflectorRequest {
  enum class Kind : std::uint8_t { page, watch };
  Kind kind = Kind::page;
  std::string target;       ///< path and query
  std::string_view accept;  ///< the value of that header; a constant
};

/// The output of one input. Do in order: cancel, facts, request; then wake at `wake`.
struct ReflectorOutput {
  bool cancel = false;  ///< drop the outstanding request: its answer no longer matters
  ReportedFacts facts;
  std::optional<ReflectorRequest> request;
  LogTime wake = kForever;  ///< call timer() then (on the clock of the inputs), unless another
                            ///< output says otherwise
  bool rediscover = false;  ///< the kind was not found: ask again which versions are served
  std::vector<DiagnosticLine> diagnostics;
};

/// Counters since the start, for metrics.
struct ReflectorCounters {
  std::uint64_t lists = 0;  ///< completed
  std::uint64_t pages = 0;
  std::uint64_t watches = 0;  ///< streams that were opened
  std::uint64_t relists = 0;  ///< lists forced by 410 or a broken stream
  std::uint64_t events = 0;   ///< ADDED, MODIFIED and DELETED
  std::uint64_t bookmarks = 0;
  std::uint64_t duplicates = 0;  ///< a version that was known already
  std::uint64_t unchanged = 0;   ///< lines that change no field that is read
  std::uint64_t older = 0;       ///< a version lower than the known one of the same uid
  std::uint64_t unknown_deletes = 0;
  std::uint64_t malformed = 0;  ///< lines and objects that could not be read, cut lines too
  std::uint64_t refused = 0;    ///< of those, objects that no API server would have accepted
  std::uint64_t errors = 0;     ///< failed requests and ERROR events
  std::uint64_t silences = 0;   ///< streams broken for silence
  std::uint64_t overflows = 0;  ///< times that objects, or their changes, exceeded the bounds
};

}  // namespace fairlead
