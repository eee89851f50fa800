// A budget for the changes of one kind that a member or tenant may report.
//
// Every writer of Nodes at a member can fill the hub's log: a program that adds and deletes them
// without end stays below members.nodesMax, and has filled the log with some 900 events a second;
// one that does so with LocalQueues, with 4700. So each kind of each server has a budget of
// changes, a token bucket, counted where the reflector reports them. The facts of a list count,
// too, but always pass: their number is bounded by nodesMax, and without lists no picture could be
// corrected. A stream that exceeds the budget is closed for a while.
//
// The bucket holds twice nodesMax, because a list may report every Node gone and as many new ones
// (a cluster that was restored), and a start lists every Node before all of them may change once (a
// label for all, an outage). The refill of 3000 a minute (members.changesPerMinute) is some four
// times what a member of 20,000 nodes makes where it is busy: only what Fairlead keeps of a Node
// counts (allocatable, labels, taints, unschedulable, Ready), which kubelet heartbeats do not
// change; a rolling upgrade of all nodes in four hours makes about eight changes a node, 670 a
// minute; 5000 new nodes in half an hour, with some five changes each, make 830.
//
// It computes with integers and the reflector's clock: the same inputs give the same answers.
#pragma once

#include <cstdint>

#include "engine/base/time.h"

namespace fairlead {

/// A token bucket, stored as the time at which everything that was spent is paid for.
class ChangeBudget {
 public:
  /// Sets the bounds: `per_minute` changes are paid for each minute, and `burst` may come at once
  /// (at least as many as in one minute); per_minute 0: no bound. Forgives what is owed.
  void set(std::int64_t per_minute, std::int64_t burst);

  /// Counts `changes`. No more than twice the burst is ever owed.
  void spend(LogTime now, std::int64_t changes);
  /// Whether more is owed than may come at once.
  bool exceeded(LogTime now) const;
  /// How long until the changes of one minute may come; 0: they may now.
  Duration recovery(LogTime now) const;

 private:
  Duration cost_;       ///< of one change; 0: no bound
  Duration allowance_;  ///< of a burst
  LogTime paid_at_;
};

}  // namespace fairlead
