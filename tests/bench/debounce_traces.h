// The traces that damping is judged by: five kinds of trouble in a cluster of a hundred nodes, made
// in code, and four ways to damp it.
//
// A VirtualHub folds a trace, with every write answered at once, and its totals
// (replay/whatif/totals.h) are compared. The claim assigns all that the cluster has, so every
// change of capacity is a change of quota unless it is damped.
#pragma once

#include <string>
#include <vector>

#include "engine/ingest/watch_fact.h"
#include "replay/whatif/totals.h"
#include "schema/configuration.h"

namespace fairlead::bench {

/// A watch fact and the time at which it arrived.
struct TimedFact {
  LogTime at;
  WatchFact fact;
};

/// A trace, in order of time. The cluster begins complete and has an hour to settle.
struct DebounceTrace {
  std::string name;
  std::vector<TimedFact> facts;
  std::uint64_t changes = 0;  ///< raw changes after the beginning
  LogTime end;
};

enum class TraceLength : std::uint8_t { full, tiny };

/// Nodes that turn NotReady and back: five that stay away for 20 s, one that flickers every few
/// seconds.
DebounceTrace node_flap(TraceLength length);
/// Node after node is cordoned, leaves, and comes back.
DebounceTrace rolling_upgrade(TraceLength length);
/// Half of the nodes fail within five seconds and come back after ten minutes.
DebounceTrace mass_failure(TraceLength length);
/// ClusterMetrics whose status is cleared now and then while nothing happens to the nodes.
DebounceTrace status_wipe(TraceLength length);
/// Allocatable creeps down and up again, a percent of a node at a time.
DebounceTrace slow_drift(TraceLength length);
std::vector<DebounceTrace> debounce_traces(TraceLength length);

/// Fairlead's defaults.
Configuration ours();
/// Every layer off.
Configuration no_debounce();
/// Delays every change by 15 s, down and up; nothing else.
Configuration fixed_delay();
/// The windows of a Pod autoscaler: up at once, down after 300 s.
Configuration pod_autoscaler();

/// The totals of a trace after its first hour.
Totals damped(const DebounceTrace& trace, const Configuration& configuration);

}  // namespace fairlead::bench
