// How much one API server may report before the reflector of a kind stops reading for a while.
//
// A server that reports objects or changes without end would fill the log (change_budget.h). Beyond
// a bound the stream is left and what was observed remains, as it does when a server is silent. The
// pause doubles each time it happens again, and lasts until the budget of changes has room, but
// never so long that the member would count as lost.
//
// Each kind has bounds of its own, so that a user who makes LocalQueues without end stops neither
// Nodes nor anything else. The plentiful kinds, of which a server has many objects, may exceed them
// within one more bound for all of these kinds together (ServerLoad).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "connectors/kube/watch/change_budget.h"
#include "connectors/kube/watch/reflector_output.h"
#include "connectors/kube/watch/reflector_settings.h"
#include "connectors/kube/watch/watched_collection.h"
#include "engine/base/time.h"

namespace fairlead {

/// What all streams of one API server report together. The reflectors of a connection share it, on
/// one thread.
struct ServerLoad {
  std::size_t objects = 0;  ///< of kinds of which there are many, by weight
  ChangeBudget changes;     ///< of those kinds
};

/// Not thread-safe; the reflector owns it.
class ReadingBounds {
 public:
  /// The references outlive this.
  ReadingBounds(const WatchedCollection& collection, const ReflectorSettings& settings,
                ServerLoad& load);

  /// The settings have other bounds: forgives the changes that were counted.
  void bounds_changed();

  /// Whether objects of that weight are more than may be read.
  bool too_many(std::size_t objects) const;
  bool too_many_changes(LogTime now) const;
  /// Counts what is `known` now, and the `changes` since the last call.
  void count(LogTime now, std::size_t known, std::int64_t changes);
  /// Whether a list may begin. Its facts always pass, because without lists no picture could be
  /// corrected: so beyond the budget only one list follows each pause.
  bool may_list(LogTime now);
  /// A list is complete. The facts of the first one are not counted as changes of all kinds
  /// together: a server may have as many objects at the start as it may ever have.
  void list_completed() { listed_ = true; }

  /// Whether nothing is read at present because a bound was exceeded.
  bool exceeded() const { return exceeded_; }
  /// A bound was exceeded. Returns the pause, without jitter; report its end with pause_ends().
  Duration exceed(LogTime now, StaleCause cause);
  void pause_ends(LogTime then) { pause_ends_ = then; }
  /// Reading goes on. Returns whether a bound was exceeded.
  bool end();
  /// Whether a server that has `others` behind its first object still has too many.
  bool still_too_many(std::int64_t others) const;

  /// The line for an operator about a bound that was exceeded.
  std::string describe(StaleCause cause) const;

 private:
  bool shares() const;

  const WatchedCollection& collection_;
  const ReflectorSettings& settings_;
  ServerLoad& load_;
  ChangeBudget budget_;
  std::size_t known_ = 0;  // counted in load_, where the kind shares it
  bool listed_ = false;
  bool exceeded_ = false;
  bool list_after_pause_ = false;
  Duration pause_;  // the last one, without jitter
  LogTime pause_ends_;
};

}  // namespace fairlead
