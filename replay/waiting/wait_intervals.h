// The intervals of a wait as an answer has them: its stretches joined with how the requests fitted,
// and with when the API server was silent.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay/waiting/wait_recorder.h"

namespace fairlead {

/// [from, to) with one class, reason and fit.
struct WaitInterval {
  LogTime from;
  LogTime to;
  WaitReason reason;
  QuotaFit fit = QuotaFit::unknown;
  std::size_t changes = 0;  ///< between waiting for quota and for preempted Workloads
  std::vector<Shortage> shortage;
  std::vector<WorkloadCheck> checks;
  std::vector<Seq> causes;
  std::vector<std::string> workers;  ///< MultiKueueClusters; of class worker
};

/// Returns the intervals of a wait up to `end`, where the record ends.
std::vector<WaitInterval> intervals_of(const Wait& wait, const std::vector<Silence>& silences,
                                       LogTime end);

/// Returns what its last stretch is at `end`, also where that has no length.
WaitInterval last_interval(const Wait& wait, LogTime end);

/// The intervals of what a worker that is named has of a Workload.
struct WorkerIntervals {
  std::string cluster;  ///< the member
  std::vector<WaitInterval> intervals;
};
/// Returns the workers that were named in a wait for one, in the order in which they were named
/// first, each with the reasons of its copy.
std::vector<WorkerIntervals> worker_intervals(const WaitRecorder& record, const NamespacedName& id,
                                              const std::vector<Wait>& waits, LogTime end);

/// Cuts intervals to [from, to).
void cut(std::vector<WaitInterval>& intervals, LogTime from, LogTime to);

}  // namespace fairlead
