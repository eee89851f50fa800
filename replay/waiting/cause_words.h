// Why an interval of a wait began, in a few words: "node gpu-6 left (NotReady), quota 48 -> 40,
// needs 44".
#pragma once

#include <string>
#include <vector>

#include "replay/audit/event_changes.h"
#include "replay/waiting/wait_intervals.h"

namespace fairlead {

class CauseWords {
 public:
  /// `lookup` outlives it.
  explicit CauseWords(EventLookup& lookup) : lookup_(lookup), changes_(lookup) {}

  /// `requests` are those of the Workload. Empty where the log has nothing to say.
  std::string of(const WaitInterval& interval, const Requests& requests);

 private:
  std::string of_event(const Event& event, const WaitInterval& interval);
  std::string of_node(const Event& event);
  std::string of_queue(const Event& event, const WaitInterval& interval);

  EventLookup& lookup_;
  EventChanges changes_;
};

}  // namespace fairlead
