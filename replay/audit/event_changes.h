// What an event changed, in a few words: the difference between what it says of an object and what
// the record before it said.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replay/audit/audit_moment.h"

namespace fairlead {

/// Reads the records before events. A history that it has read is kept for the next event of the
/// same object.
class EventChanges {
 public:
  explicit EventChanges(EventLookup& lookup) : lookup_(lookup) {}
  /// Returns "gpu-6: Ready -> NotReady", "gpu-6: new", "gpu-6: gone" or, of a configuration,
  /// "configuration: debounce.growWindow 5m0s -> 10s". Empty of other events, and where the record
  /// before cannot be read. More than a few differences are counted.
  std::string words_of(const Event& event);
  /// The same as a Json; null where it is empty.
  Json json_of(const Event* event);
  /// Returns the record before of the same object, or of the configuration; null if there is none,
  /// or if it cannot be read.
  const Event* before(const Event& event);

 private:
  const std::vector<Seq>& history_of(const Event& event);

  EventLookup& lookup_;
  std::map<std::string, std::vector<Seq>> histories_;  // by source and object
};

}  // namespace fairlead
