// fairlead-sim: runs a world by its seed, and says what broke.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iomanip>
#include <iostream>

#include "engine/runtime/build_commit.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

int run_world(const Storm& storm, bool quiet) {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point began = Steady::now();
  World::Lines lines;
  if (!quiet) lines = [](const std::string& line) { std::cout << line << "\n"; };
  World world(storm, lines);
  const auto failure = world.run();
  const double real = std::chrono::duration<double>(Steady::now() - began).count();
  const double hours_of_it = static_cast<double>((world.now() - world.record().began).ns) / 3.6e12;
  std::cout << std::fixed << std::setprecision(2) << "seed " << storm.seed << " digest "
            << world.digest().hex().substr(0, 16) << " hours " << hours_of_it << " seconds " << real
            << " ratio " << static_cast<std::int64_t>(hours_of_it * 3600 / real) << " events "
            << world.record().events.size() << " writes " << world.record().writes.size()
            << " faults " << world.record().faults.size() << "\n";
  if (!failure) return 0;
  std::cout << "FAILED " << failure->checker << " at " << to_rfc3339(failure->time) << " seq "
            << failure->seq.value << " (seed " << storm.seed << ", commit " << build_commit()
            << "): " << failure->what << "\n"
            << "again: fairlead-sim --seed " << storm.seed << "\n";
  return 1;
}

}  // namespace
}  // namespace fairlead::simulation

int main(int argc, char** argv) {
  using namespace fairlead::simulation;
  CLI::App app{"A hub and its world in virtual time. The same seed gives the same run."};
  std::int64_t seed = 1, hours = 0;
  bool quiet = false;
  app.add_option("--seed", seed, "of the storm");
  app.add_option("--hours", hours, "of virtual time until faults heal");
  app.add_flag("--quiet", quiet, "only the last lines");
  CLI11_PARSE(app, argc, argv);
  Storm storm = storm_of(static_cast<std::uint64_t>(seed));
  if (hours > 0) storm.minutes = hours * 60;
  return run_world(storm, quiet);
}
