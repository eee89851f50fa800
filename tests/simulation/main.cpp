// fairlead-sim: runs worlds by their seeds, and says what broke.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/simulation/checkers/all.h"
#include "tests/simulation/runs.h"

namespace fairlead::simulation {
namespace {

struct Options {
  std::uint64_t seed = 1;
  std::string seeds;     // A..B
  std::string scenario;  // a file
  std::string without;   // a checker
  std::int64_t hours = 0;
  int jobs = 1;
  bool quiet = false, shrink = false, exhaustive = false, print = false;
};

Storm storm_to_run(const Options& options) {
  if (options.scenario.empty()) return storm_of(options.seed);
  std::ifstream file(options.scenario);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw CLI::ValidationError(options.scenario, "cannot be read");
  auto storm = read_storm(text.str(), options.scenario);
  if (!storm) throw CLI::ValidationError("--scenario", storm.error().message);
  return *storm;
}

std::pair<std::uint64_t, std::uint64_t> range_of(const std::string& seeds) {
  std::uint64_t first = 0, last = 0;
  char end = 0;
  if (std::sscanf(seeds.c_str(), "%lu..%lu%c", &first, &last, &end) != 2 || last < first)
    throw CLI::ValidationError("--seeds", "expected A..B");
  return {first, last};
}

int run(const Options& options) {
  leave_out(options.without);
  const auto adjust = [&](Storm& storm) {
    if (options.hours > 0) storm.minutes = options.hours * 60;
  };
  if (!options.seeds.empty()) {
    const auto [first, last] = range_of(options.seeds);
    return run_seeds(first, last, options.jobs, adjust, std::cout) > 0 ? 1 : 0;
  }
  Storm storm = storm_to_run(options);
  adjust(storm);
  if (options.print) {
    std::cout << storm_text(storm);
    return 0;
  }
  if (options.shrink) return shrink(storm, options.jobs, std::cout) > 0 ? 1 : 0;
  if (options.exhaustive) return run_exhaustive(storm, options.jobs, std::cout) > 0 ? 1 : 0;
  World::Lines lines;
  if (!options.quiet) lines = [](const std::string& line) { std::cout << line << "\n"; };
  const Outcome outcome = run_storm(storm, lines);
  std::cout << outcome.summary;
  return outcome.failed.empty() ? 0 : 1;
}

}  // namespace
}  // namespace fairlead::simulation

int main(int argc, char** argv) {
  fairlead::simulation::Options options;
  CLI::App app{"A hub and its world in virtual time. The same seed gives the same run."};
  app.add_option("--seed", options.seed, "of the storm");
  app.add_option("--seeds", options.seeds, "A..B: each of them, a line each");
  app.add_option("--scenario", options.scenario, "the storm of a file instead");
  app.add_option("--hours", options.hours, "of virtual time until faults heal");
  app.add_option("--jobs", options.jobs, "processes at a time");
  app.add_option("--without", options.without, "a checker that is left out");
  app.add_flag("--shrink", options.shrink, "makes a storm that fails smaller");
  app.add_flag("--exhaustive", options.exhaustive,
               "the storm, and then each fault at each of its occasions once");
  app.add_flag("--print", options.print, "prints the storm as a file has it");
  app.add_flag("--quiet", options.quiet, "only the last lines");
  try {
    app.parse(argc, argv);
    return fairlead::simulation::run(options);
  } catch (const CLI::Error& error) {
    return app.exit(error);
  }
}
