// Runs of worlds: one, many seeds, a failure made smaller, each fault at each place once. Each run
// but a single one has a process of its own, which a failed check of the engine may end.
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <string>

#include "tests/simulation/storm.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {

/// What a run came to.
struct Outcome {
  std::string failed;   ///< the checker; "signal N" of a process that was ended; empty: it held
  std::string summary;  ///< a line for a person, or several
  std::string end;      ///< digest of the hub's objects at the end, without versions and times
  std::uint64_t writes = 0;  ///< by the hub
  std::array<std::int64_t, kFaultKinds> occasions{};
};

/// Runs it here, with a line of each event where `lines` is not empty.
Outcome run_storm(const Storm& storm, World::Lines lines);

/// Runs the storms of the seeds from `first` to `last`, as `adjust` changes them, in `jobs`
/// processes at a time. Prints a line of each, and returns how many failed.
int run_seeds(std::uint64_t first, std::uint64_t last, int jobs,
              const std::function<void(Storm&)>& adjust, std::ostream& out);
/// Makes a storm that fails smaller as long as it fails so. Prints the smallest.
int shrink(const Storm& storm, int jobs, std::ostream& out);
/// Runs `storm`, which is calm, and then, once each: a death at each append, send and answer, each
/// line about an object lost, doubled and delayed, each list stale, each answer lost. All end as
/// the calm one does, with few writes more. Returns how many do not.
int run_exhaustive(const Storm& storm, int jobs, std::ostream& out);

}  // namespace fairlead::simulation
