// What happens where OCM chooses MultiKueue's workers: a play in rounds, the same for the same
// seed.
//
// Each round brings once what a worker list must stand: a score that flips and flips back, one that
// flips for good while a job runs on the cluster that leaves, a credential that blinks, a label
// that brings a cluster in and takes it out again. At its end everything is as it was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/time.h"

namespace fairlead {

enum class WorkerDeed : std::uint8_t {
  submit,             ///< somebody creates a job
  take_gpus,          ///< pods that are none of Kueue's occupy GPUs of the cluster
  free_gpus,          ///< they leave them again
  drop_credential,    ///< the Secret, or the providers of the ClusterProfile, are gone
  return_credential,  ///< and there again
  add_label,          ///< the administrator labels the ManagedCluster
  remove_label,
};

struct WorkerHappening {
  Duration at;  ///< since the fleet began, in its own time
  WorkerDeed deed{};
  std::string subject;    ///< the cluster; of submit: the job
  std::int64_t gpus = 0;  ///< of submit, take_gpus, free_gpus
  Duration length;        ///< of submit: how long the job runs
  std::string text;       ///< the same for a person, without the subject

  friend bool operator==(const WorkerHappening&, const WorkerHappening&) = default;
};

/// `user`, `admin` or `fleet`.
std::string_view actor_of(WorkerDeed deed);

inline constexpr Duration kWorkerRoundLength = minutes(28);
/// Scores are reported so often, at whole multiples since the start.
inline constexpr Duration kScoreInterval = minutes(1);

/// What happens in round `round` (from 0), by time.
std::vector<WorkerHappening> worker_script_of_round(std::uint64_t seed, std::int64_t round);

}  // namespace fairlead
