// What an event changed, in a few words: the difference between its record of an object and the
// record before it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replay/audit/audit_moment.h"

namespace fairlead {

/// Reads the records before events.
class EventChanges {
 public:
  explicit EventChanges(EventLookup& lookup) : lookup_(lookup) {}
  /// Returns "gpu-6: Ready -> NotReady", "gpu-6: new", "gpu-6: gone" or, of a configuration,
  /// "configuration: debounce.growWindow 5m0s -> 10s". Empty of other events, and where the record
  /// before cannot be read. More than a few differences are counted.
  std::string words_of(const Event& event);
  /// The same as a Json; null where it is empty.
  Json json_of(const Event* event);
  /// The same without the name: "Ready -> NotReady".
  std::string differences_of(const Event& event);
  /// Returns the record before of the same object, or of the configuration; null if there is none,
  /// or if it cannot be read.
  const Event* before(const Event& event);

 private:
  Result<std::vector<Seq>> seqs_before(const Event& event, std::size_t most);

  EventLookup& lookup_;
};

/// For events that are read in order; a log may have millions of them. The record before is mostly
/// at hand. Keeps a bounded number of records.
class ChangesInOrder {
 public:
  /// `log` outlives it.
  explicit ChangesInOrder(const ReadableLog& log) : log_(log) {}
  /// As EventChanges::differences_of(). Each event since the last call was passed to passed().
  std::string differences_of(const Event& event);
  /// Takes in that an event was read about which nothing is asked.
  void passed(const Event& event);

 private:
  const ReadableLog& log_;
  std::map<std::string, Event> last_;  // by source and object
};

}  // namespace fairlead
