// The script of a fleet where OCM chooses MultiKueue's workers, in rounds, the same for the same
// seed.
//
// Each round has once every event that a worker list must tolerate: a score that flips and flips
// back, one that flips for good while a job runs on the cluster that leaves, a credential that is
// gone for a moment, a label that selects a cluster and is removed again. A round ends as it began.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/time.h"

namespace fairlead {

enum class WorkerFaultKind : std::uint8_t {
  submit,             ///< a user creates a job
  withdraw,           ///< the user deletes it
  occupy_gpus,        ///< pods that are none of Kueue's occupy GPUs of the cluster
  free_gpus,          ///< those pods end
  drop_credential,    ///< the Secret, or the providers of the ClusterProfile, are deleted
  return_credential,  ///< and written again
  add_label,          ///< the administrator labels the ManagedCluster
  remove_label,
};

struct WorkerFault {
  Duration at;  ///< since the fleet began, in its own time
  WorkerFaultKind kind{};
  std::string subject;    ///< the cluster; of submit, withdraw: the job
  std::int64_t gpus = 0;  ///< of submit, occupy_gpus, free_gpus
  Duration length;        ///< of submit: how long the job runs
  std::string text;       ///< the fault for a person, without the subject

  friend bool operator==(const WorkerFault&, const WorkerFault&) = default;
};

/// Returns `user`, `admin` or `fleet`.
std::string_view actor_of(WorkerFaultKind kind);

inline constexpr Duration kWorkerRoundLength = minutes(28);
/// Scores are reported at whole multiples of this since the start.
inline constexpr Duration kScoreInterval = minutes(1);

/// Returns the faults of round `round` (from 0), by time.
std::vector<WorkerFault> worker_script_of_round(std::uint64_t seed, std::int64_t round);

}  // namespace fairlead
