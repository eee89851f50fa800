// The numbers of the webhook, as a value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "engine/runtime/histogram.h"

namespace fairlead {

/// Counters grow from the start of the process.
struct WebhookStats {
  /// Requests by (rule, decision). A request counts once for each rule that objects: as "denied",
  /// "overridden" or "warned"; without one once for the rule "none": as "allowed", as "passed" if
  /// it is not judged, as "unread" if its object could not be read, as "refused" if the body was no
  /// review.
  std::map<std::pair<std::string, std::string>, std::uint64_t> requests;
  Histogram took;                ///< from the whole body of a request to its answer
  std::uint64_t notes_lost = 0;  ///< decisions that are missing from the log
};

}  // namespace fairlead
