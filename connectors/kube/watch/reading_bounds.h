// How much one API server may report before the reflector stops reading for a while.
//
// A server that reports objects or changes without end would fill the log (change_budget.h). Beyond
// a bound the stream is left and what was observed remains, as it does when a server is silent. The
// pause doubles each time it happens again, and lasts until the budget of changes has room, but
// never so long that the member would count as lost.
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

/// Not thread-safe; the reflector owns it.
class ReadingBounds {
 public:
  /// The references outlive this.
  ReadingBounds(const WatchedCollection& collection, const ReflectorSettings& settings);

  /// The settings have other bounds: forgives the changes that were counted.
  void bounds_changed();

  /// Whether so many objects are more than may be read.
  bool too_many(std::size_t objects) const;
  bool too_many_changes(LogTime now) const { return budget_.exceeded(now); }
  /// Spends the budget for the facts about objects that were appended to `facts` since the last
  /// call.
  void count_changes(LogTime now, const ReportedFacts& facts);
  /// `facts` are handed out: the next ones begin at 0.
  void facts_handed_out() { counted_ = 0; }

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
  const WatchedCollection& collection_;
  const ReflectorSettings& settings_;
  ChangeBudget budget_;
  std::size_t counted_ = 0;  // of the facts, by the budget
  bool exceeded_ = false;
  Duration pause_;  // the last one, without jitter
  LogTime pause_ends_;
};

}  // namespace fairlead
