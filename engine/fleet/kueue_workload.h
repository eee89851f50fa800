// What Kueue's manager does next with a Workload whose ClusterQueue has a MultiKueue check.
//
// In the order of a Workload's life: quota is reserved while every check of the queue is Active; it
// is nominated to all workers once its other checks are Ready; one worker takes it, the others
// forget it; it is finished when its copy is. When the worker that runs it leaves the list it is
// evicted and begins anew: the old copy runs on, which is what Fairlead is careful about.
// Not played: the hub's own quota is never short, priorities, preemption, backoff.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/time.h"

namespace fairlead {

inline constexpr std::string_view kMultiKueueController = "kueue.x-k8s.io/multikueue";

/// A queue as far as a Workload meets it.
struct QueueView {
  std::vector<std::string> checks;
  std::string multikueue_check;      ///< that of Kueue's own
  std::vector<std::string> workers;  ///< of its MultiKueueConfig, in its order
  bool active = false;
};

struct WorkerView {
  std::string cluster;
  bool connected = false;
  std::int64_t free_gpus = 0;
};

struct KueueView {
  std::map<std::string, QueueView> queues;    ///< by `<namespace>/<LocalQueue>`
  std::map<std::string, WorkerView> workers;  ///< by MultiKueueCluster
};

struct KueueStep {
  Json status;            ///< a merge patch of it
  std::string told;       ///< empty: nothing that a person follows
  std::string starts_on;  ///< the worker on which a copy starts with this step
};

enum class CopyState : std::uint8_t { running, ended };

/// The next step, if there is one now. `copy` is that of the worker which runs the Workload.
std::optional<KueueStep> next_step(const Json& workload, const KueueView& view, CopyState copy,
                                   LogTime now);

/// Whether `object` has the condition `type` with status True.
bool is_true(const Json& object, const std::string& type);

}  // namespace fairlead
