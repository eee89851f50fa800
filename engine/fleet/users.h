// The users of a fleet: they submit jobs in rounds, the same for the same seed.
//
// In each round jobs wait because capacity left: of the machines' fleet while a rack has no power,
// of the devices' fleet while a GPU is broken and while an upgrade of the driver hangs. In the
// machines' fleet one is evicted for a job of higher priority.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/worker_world.h"

namespace fairlead {

/// A job and when it is submitted.
struct Submission {
  Duration at;  ///< since the fleet began, in its own time
  UserJob job;
  std::string text;  ///< it in words, for a person, without its name
};

/// Return the jobs of round `round` (from 0), by time.
std::vector<Submission> machine_jobs_of_round(std::uint64_t seed, std::int64_t round);
std::vector<Submission> device_jobs_of_round(std::uint64_t seed, std::int64_t round);

/// The namespace and the LocalQueue of the devices' fleet.
inline constexpr const char* kDeviceTeam = "team-ml";

/// Owned by one thread. The model outlives it.
class Users {
 public:
  using Script = std::vector<Submission> (*)(std::uint64_t seed, std::int64_t round);

  /// `start` is the time at which the fleet begins.
  Users(model::SharedModel& hub, Script script, std::uint64_t seed, LogTime start,
        FleetLogger logger)
      : api_(hub, "kubectl-create"),
        next_round_(script),
        seed_(seed),
        start_(start),
        logger_(std::move(logger)) {}

  /// Submits what is due.
  void look(LogTime now);
  std::uint64_t writes() const { return writes_; }

 private:
  Api api_;
  const Script next_round_;
  const std::uint64_t seed_;
  const LogTime start_;
  const FleetLogger logger_;
  std::deque<Submission> script_;
  std::int64_t round_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
