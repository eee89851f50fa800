// Runs of worlds: one, many seeds, a failure made smaller, each fault at each place once. Each run
// but a single one has a process of its own, which a failed check of the engine may end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/simulation/storm.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {

/// What a run is of.
struct Scenario {
  Storm storm;
  IncidentRef incident{};  ///< null: machines and people of the seed
};

/// What a run came to.
struct Outcome {
  std::string failed;   ///< the checker; "signal N" of a process that was ended; empty: it held
  std::string summary;  ///< a line for a person, or several
  std::uint64_t writes = 0;                     ///< by the hub
  std::uint64_t calm_writes = 0;                ///< by the hub of the undisturbed run
  double hours = 0;                             ///< of virtual time
  std::map<std::string, std::int64_t> faults;   ///< by kind
  std::map<std::string, std::int64_t> leaders;  ///< by kind: those that befell a leader of several
  std::array<std::int64_t, kFaultKinds> occasions{};
};

/// Runs it here, with a line of each event where `lines` is not empty.
Outcome run_here(const Scenario& scenario, World::Lines lines);

/// Runs `count` scenarios, each in a process, `jobs` at a time. `scenario_at` returns one by its
/// number; `done` gets what each came to, by number.
void run_apart(std::size_t count, int jobs, const std::function<Scenario(std::size_t)>& scenario_at,
               const std::function<void(std::size_t, const Outcome&)>& done);
/// Runs one in a process of its own.
Outcome run_apart(const Scenario& scenario);

/// Runs what `scenario_of` makes of the seeds from `first` to `last`, in `jobs` processes at a
/// time. Prints a line of each and the sums, and returns how many failed.
int run_seeds(std::uint64_t first, std::uint64_t last, int jobs,
              const std::function<Scenario(std::uint64_t)>& scenario_of, std::ostream& out);
/// Makes a storm that fails smaller as long as it fails so. Prints the smallest; returns how many
/// failed: 1, or 0.
int shrink(const Scenario& scenario, std::ostream& out);
/// Runs the workload undisturbed, and then each kind of fault that Kubernetes has at its places
/// once, one place a run: of each kind the first place and every `every`-th behind it. Each run
/// ends as the undisturbed one does, with few writes more. Prints the sums, and returns how many do
/// not.
int run_exhaustive(const Scenario& scenario, std::int64_t every, int jobs, std::ostream& out);

}  // namespace fairlead::simulation
