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
  std::string seeds;                   // A..B
  std::vector<std::string> scenarios;  // files
  std::string bundle;
  std::string without;  // a checker
  std::int64_t hours = 0, every = 1;
  int jobs = 1;
  bool quiet = false, shrink = false, exhaustive = false, print = false;
};

Storm read_file(const std::string& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw CLI::ValidationError(name, "cannot be read");
  auto storm = read_storm(text.str(), name);
  if (!storm) throw CLI::ValidationError("--scenario", storm.error().message);
  return *storm;
}

// What a run is of, by its seed: the storm of the seed, or one of a file with that seed, around
// what is simulated or what happened once.
class Scenarios {
 public:
  explicit Scenarios(const Options& options) : options_(options) {
    for (const std::string& file : options.scenarios) storms_.push_back(read_file(file));
    if (options.bundle.empty()) return;
    auto incident = read_incident(options.bundle);
    if (!incident) throw CLI::ValidationError("--from-bundle", incident.error().message);
    incident_ = *std::move(incident);
    std::cout << incident_->summary() << "\n";
  }

  /// Those of the files as they are, or the one of the seed.
  std::vector<Scenario> all() const {
    std::vector<Scenario> all;
    for (const Storm& storm : storms_) all.push_back(around(storm));
    if (all.empty()) all.push_back(around(storm_of(options_.seed)));
    return all;
  }
  Scenario of_seed(std::uint64_t seed) const {
    Storm storm = storms_.empty() ? storm_of(seed) : storms_.front();
    storm.seed = static_cast<std::int64_t>(seed);
    return around(storm);
  }

 private:
  Scenario around(Storm storm) const {
    // Until the incident is over.
    if (incident_) storm.minutes = incident_->span.ns / minutes(1).ns + 1;
    if (options_.hours > 0) storm.minutes = options_.hours * 60;
    return {storm, incident_};
  }

  const Options& options_;
  std::vector<Storm> storms_;
  IncidentRef incident_;
};

std::pair<std::uint64_t, std::uint64_t> range_of(const std::string& seeds) {
  std::uint64_t first = 0, last = 0;
  char end = 0;
  if (std::sscanf(seeds.c_str(), "%lu..%lu%c", &first, &last, &end) != 2 || last < first)
    throw CLI::ValidationError("--seeds", "expected A..B");
  return {first, last};
}

// Returns how many failed.
int run(const Options& options, const Scenario& scenario) {
  if (options.print) {
    std::cout << storm_text(scenario.storm);
    return 0;
  }
  if (options.shrink) return shrink(scenario, std::cout);
  if (options.exhaustive) return run_exhaustive(scenario, options.every, options.jobs, std::cout);
  World::Lines lines;
  if (!options.quiet) lines = [](const std::string& line) { std::cout << line << "\n"; };
  const Outcome outcome = run_here(scenario, lines);
  std::cout << outcome.summary;
  return outcome.failed.empty() ? 0 : 1;
}

int run(const Options& options) {
  leave_out(options.without);
  const Scenarios scenarios(options);
  if (!options.seeds.empty()) {
    const auto [first, last] = range_of(options.seeds);
    const auto of_seed = [&](std::uint64_t seed) { return scenarios.of_seed(seed); };
    return run_seeds(first, last, options.jobs, of_seed, std::cout) > 0 ? 1 : 0;
  }
  int failed = 0;
  const std::vector<Scenario> all = scenarios.all();
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all.size() > 1) std::cout << "== " << options.scenarios[at] << "\n" << std::flush;
    failed += run(options, all[at]);
  }
  return failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace fairlead::simulation

int main(int argc, char** argv) {
  fairlead::simulation::Options options;
  CLI::App app{"A hub and its world in virtual time. The same seed gives the same run."};
  app.add_option("--seed", options.seed, "of the storm");
  app.add_option("--seeds", options.seeds, "A..B: each of them, a line each");
  app.add_option("--scenario", options.scenarios, "the storm of a file instead, or of several");
  app.add_option("--from-bundle", options.bundle,
                 "an export of a log: what it says of the world is the workload");
  app.add_option("--hours", options.hours, "of virtual time until faults heal");
  app.add_option("--jobs", options.jobs, "processes at a time");
  app.add_option("--without", options.without, "a checker that is left out");
  app.add_flag("--shrink", options.shrink, "makes a storm that fails smaller");
  app.add_flag("--exhaustive", options.exhaustive,
               "undisturbed, and then each fault at each of its places once");
  app.add_option("--every", options.every,
                 "of each kind only the first place and every N-th behind")
      ->check(CLI::PositiveNumber);
  app.add_flag("--print", options.print, "prints the storm as a file has it");
  app.add_flag("--quiet", options.quiet, "only the last lines");
  try {
    app.parse(argc, argv);
    return fairlead::simulation::run(options);
  } catch (const CLI::Error& error) {
    return app.exit(error);
  }
}
