// Plays Kueue on one API server for the Workloads of ClusterQueues without AdmissionChecks: gives
// them quota or says what is missing, preempts, finishes jobs after their length, and keeps the
// status of the queues. (Queues with a MultiKueue check: kueue_controller.h.)
//
// Workloads are looked at by priority, then by age; one that does not fit holds no other back
// (BestEffortFIFO). A queue with preemption.withinClusterQueue LowerPriority takes quota from jobs
// of lower priority, the lowest and youngest first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/quota_ledger.h"

namespace fairlead {

/// The reasons with which a Workload waits: of Kueue 0.19 as it is installed, or with its gate
/// UnadmittedWorkloadsObservability.
enum class WaitingReasons : std::uint8_t { pending, granular };

/// Returns the reason of QuotaReserved False for a Workload that does not fit.
std::string reason_of(const QuotaLedger::Verdict& verdict, WaitingReasons reasons);

/// Owned by one thread. The model outlives it.
class QuotaController {
 public:
  QuotaController(model::SharedModel& server, FleetLogger logger,
                  WaitingReasons reasons = WaitingReasons::pending)
      : api_(server, "kueue"), logger_(std::move(logger)), reasons_(reasons) {}

  /// Reconciles all queues and Workloads, at most once a second.
  void look(LogTime now);
  std::uint64_t writes() const { return writes_; }

 private:
  struct Queue {
    Json object;
    QuotaLedger ledger;
  };
  struct Job {
    Json workload;
    std::string queue;  ///< a key of queues_
  };

  void read_queues();
  void read_jobs();
  /// Has `job` go on by one step. Returns when it ends by itself; kForever: no time is known.
  LogTime attend(Job& job, LogTime now);
  void admit(Job& job, Json admission, LogTime now);
  void keep_waiting(Job& job, const QuotaLedger::Verdict& verdict, LogTime now);
  /// Returns the jobs that have to go so that `job` fits; empty: no set of them suffices.
  std::vector<Job*> victims_of(const Job& job);
  void release(Job& job, LogTime now);
  bool write(Job& job, const Json& status);
  void write_status(const Queue& queue, LogTime now);

  Api api_;
  const FleetLogger logger_;
  const WaitingReasons reasons_;
  std::map<std::string, Queue> queues_;
  std::vector<Job> jobs_;  ///< in the order in which they are looked at
  LogTime next_look_, next_end_;
  std::uint64_t seen_ = 0;  ///< revision of the model at the last look
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
