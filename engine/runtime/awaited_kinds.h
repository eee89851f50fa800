// Kinds of the hub that planning waits for: before every object is known, what is missing would
// look as if it were gone.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "engine/ingest/watch_fact.h"
#include "engine/runtime/diagnostics.h"
#include "schema/configuration.h"

namespace fairlead {

class AwaitedKinds {
 public:
  explicit AwaitedKinds(const std::vector<Kind>& kinds) : unread_(kinds.begin(), kinds.end()) {}

  /// Waits for the kinds that `configuration` uses and the one before did not, of which nothing is
  /// known, or nothing new; ends the wait for those that it does not use.
  void follow(const Configuration& configuration);

  /// Notes a fact that the hub's API server reported: a complete list of a kind, or that the kind
  /// may not be read.
  void note(const WatchFact& fact);
  /// Ends the wait for the noted kinds. Objects of a kind that may not be read stay as State holds
  /// them: no list says that they are gone.
  void resolve(const Configuration& configuration, const Logger& logger);

  /// Those without a complete list, and without a StreamLost of a kind that may stay unread.
  const std::set<Kind>& kinds() const { return kinds_; }

 private:
  enum class Word : std::uint8_t { listed, lost };
  std::set<Kind> read_, unread_;  // all kinds, by whether the configuration uses them
  std::set<Kind> kinds_;
  std::vector<std::pair<Kind, Word>> noted_;
};

}  // namespace fairlead
