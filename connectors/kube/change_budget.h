// How many changes of its Nodes one member may show.
//
// Whoever may write Nodes at a member decides what the hub's log holds: a program that adds and
// deletes them without end stays below members.nodesMax and filled the log with some 900 events a
// second. So each member has a budget of changes, a token bucket, counted where they are told.
// What a list tells counts, too, but always passes: it is bounded by nodesMax, and without it
// nothing could be put right. A stream that shows one change more is left for a while.
//
// The bucket holds twice nodesMax, because a list may show every Node gone and as many new ones
// (a cluster that was restored), and a start lists every Node before all of them may change once (a
// label for all, an outage). The refill of 3000 a minute (members.changesPerMinute) is some four
// times what a member of 20,000 nodes makes where it is busy: only what Fairlead keeps of a Node
// counts (allocatable, labels, taints, unschedulable, Ready), which kubelet heartbeats do not
// change; a rolling upgrade of all nodes in four hours makes about eight changes a node, 670 a
// minute; 5000 new nodes in half an hour, with some five changes each, make 830.
//
// Integers, and the clock that the reflector is given: the same inputs give the same answers.
#pragma once

#include <cstdint>

#include "engine/base/time.h"

namespace fairlead {

/// A token bucket, kept as the time at which everything that was spent is paid for.
class ChangeBudget {
 public:
  /// From now on `per_minute` changes are paid for each minute, and `burst` may come at once (at
  /// least as many as are paid for in a minute); per_minute 0: no bound. Nothing is owed of before.
  void set(std::int64_t per_minute, std::int64_t burst);

  /// `changes` came. No more than twice the burst is ever owed.
  void spend(LogTime now, std::int64_t changes);
  /// More is owed than may come at once.
  bool exceeded(LogTime now) const;
  /// How long until what a minute pays for may come; 0: it may now.
  Duration recovery(LogTime now) const;

 private:
  Duration cost_;       ///< of one change; 0: no bound
  Duration allowance_;  ///< of a burst
  LogTime paid_at_;
};

}  // namespace fairlead
