// The next step of Kueue's manager for a Workload whose ClusterQueue has a MultiKueue check.
//
// In the order of a Workload's life: quota is reserved while every check of the queue is Active and
// its requests fit; it is nominated to all workers once its other checks are Ready; one worker
// admits it, the others delete their copies; it is finished when its copy is. When the worker that
// runs it leaves the list it is evicted and begins anew, while the old copy runs on: this is why
// Fairlead removes workers late. Not played: priorities, preemption, backoff.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/time.h"
#include "engine/fleet/quota_ledger.h"
#include "engine/fleet/workload_status.h"

namespace fairlead {

inline constexpr std::string_view kMultiKueueController = "kueue.x-k8s.io/multikueue";

/// The fields of a queue that a Workload depends on.
struct QueueView {
  std::vector<std::string> checks;
  std::string multikueue_check;      ///< the check of Kueue's own controller
  std::vector<std::string> workers;  ///< of its MultiKueueConfig, in its order
  bool active = false;
  std::string name;  ///< of the ClusterQueue
};

struct WorkerView {
  std::string cluster;
  bool connected = false;
  std::int64_t free_gpus = 0;
};

/// Who nominates workers: Kueue's default dispatcher, or another one (its gate
/// MultiKueueDispatcher).
enum class Nominator : std::uint8_t { kueue, another };

struct KueueView {
  Nominator nominator{};
  std::map<std::string, QueueView> queues;     ///< by `<namespace>/<LocalQueue>`
  std::map<std::string, WorkerView> workers;   ///< by MultiKueueCluster
  std::map<std::string, QuotaLedger> ledgers;  ///< by ClusterQueue
};

struct KueueStep {
  Json status;            ///< a merge patch of it
  std::string log_line;   ///< log line of this step; empty: none
  std::string starts_on;  ///< the worker on which a copy starts with this step
};

enum class CopyState : std::uint8_t { running, ended };

/// Returns the next step, if there is one now. `copy` is the state of the copy on the worker that
/// runs the Workload.
std::optional<KueueStep> next_step(const Json& workload, const KueueView& view, CopyState copy,
                                   LogTime now);

}  // namespace fairlead
