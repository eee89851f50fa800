// Plays Kueue's manager on the hub and the workers behind it: keeps the conditions of
// MultiKueueClusters, of its own AdmissionChecks and of ClusterQueues, dispatches Workloads and
// runs their copies. What happens to one Workload is in kueue_workload.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/kueue_workload.h"
#include "engine/fleet/worker_copies.h"

namespace fairlead {

/// Owned by one thread.
class KueueController {
 public:
  /// `workers` are the API servers, by cluster, on which copies of Workloads are written.
  KueueController(model::SharedModel& hub, FleetLogger logger,
                  Nominator nominator = Nominator::kueue,
                  const std::map<std::string, model::SharedModel*>& workers = {})
      : hub_(hub, "kueue"),
        logger_(std::move(logger)),
        nominator_(nominator),
        worker_copies_(workers) {}

  /// Reconciles all objects, at most once a second. `gpus` are those of each cluster that no
  /// foreign pod occupies; it includes those that copies of Workloads hold.
  void look(LogTime now, const std::map<std::string, std::int64_t>& gpus);
  /// The number of GPUs that copies of Workloads hold on `cluster`, copies of evicted ones
  /// included.
  std::int64_t gpus_in_use(const std::string& cluster) const;
  std::uint64_t writes() const { return writes_ + worker_copies_.writes(); }

 private:
  struct Copy {
    std::int64_t gpus = 0;
    LogTime ends;
  };
  using CopyKey = std::pair<std::string, std::string>;  ///< uid of the Workload, cluster

  void see_workers(LogTime now, const std::map<std::string, std::int64_t>& gpus, KueueView& view);
  void see_checks(LogTime now, const KueueView& view);
  void see_queues(LogTime now, KueueView& view);
  QueueView see_queue(const Json& queue, const std::map<std::string, Json>& checks);
  void see_workloads(LogTime now, KueueView& view);
  /// Returns `workload` as it is after the step.
  Json apply_step(Json workload, const KueueView& view, KueueStep step, LogTime now);
  void write_copies(const Json& workloads, const KueueView& view);
  void write_usage(const KueueView& view);
  CopyState copy_of(const Json& workload, const KueueView& view, LogTime now) const;
  /// Whether Kueue can reach the cluster that `worker` names; and its name.
  std::pair<bool, std::string> connection(const Json& worker) const;
  /// Sets `condition` on `object`; true if it was not set before.
  bool set_condition(const std::string& collection, const Json& object, Json condition);

  Api hub_;
  const FleetLogger logger_;
  const Nominator nominator_;
  std::map<CopyKey, Copy> copies_;
  WorkerCopies worker_copies_;
  LogTime next_look_;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
