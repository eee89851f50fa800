#include "tests/simulation/runs.h"

#include <chrono>
#include <iomanip>
#include <sstream>
#include <utility>

#include "engine/runtime/build_commit.h"
#include "tests/simulation/ending.h"

namespace fairlead::simulation {
namespace {

using Counts = std::map<std::string, std::int64_t>;

void add(Counts& sum, const Counts& counts) {
  for (const auto& [name, count] : counts) sum[name] += count;
}

std::string text_of(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += " " + name + " " + std::to_string(count);
  return text;
}

std::int64_t count_in(const Counts& counts, const std::string& name) {
  const auto at = counts.find(name);
  return at == counts.end() ? 0 : at->second;
}

std::string text_of_leaders(const Counts& leaders) {
  return "paused leaders " + std::to_string(count_in(leaders, "pauses")) + " partitioned leaders " +
         std::to_string(count_in(leaders, "partitions"));
}

}  // namespace

Outcome run_here(const Scenario& scenario, World::Lines lines) {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point began = Steady::now();
  const Storm& storm = scenario.storm;
  World world(storm, std::move(lines), Judged::yes, scenario.incident);
  const auto failure = world.run();
  const double real = std::chrono::duration<double>(Steady::now() - began).count();
  const Record& record = world.record();
  Outcome outcome;
  outcome.hours = static_cast<double>((world.now() - record.began).ns) / 3.6e12;
  outcome.occasions = world.faults().occasions();
  outcome.writes = writes_by_hub(world);
  outcome.leaders = record.leaders;
  for (const SeenFault& fault : record.faults) ++outcome.faults[fault.kind];
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << "seed " << storm.seed << " digest "
      << world.digest().hex().substr(0, 16) << " hours " << outcome.hours << " seconds " << real
      << " ratio " << static_cast<std::int64_t>(outcome.hours * 3600 / real) << " events "
      << record.events.size() << " writes " << outcome.writes;
  if (!failure) {
    const bool calm = undisturbed(storm) == storm;
    outcome.calm_writes =
        calm ? outcome.writes : undisturbed_ending(storm, scenario.incident).writes;
    out << " undisturbed " << outcome.calm_writes;
  }
  out << " faults " << record.faults.size();
  if (storm.replicas > 1) out << " " << text_of_leaders(record.leaders);
  out << "\n";
  if (failure) {
    outcome.failed = failure->checker;
    out << "FAILED " << failure->checker << " at " << to_rfc3339(failure->time) << " seq "
        << failure->seq.value << " (seed " << storm.seed << ", commit " << build_commit()
        << "): " << failure->what << "\n";
  }
  outcome.summary = out.str();
  return outcome;
}

int run_seeds(std::uint64_t first, std::uint64_t last, int jobs,
              const std::function<Scenario(std::uint64_t)>& scenario_of, std::ostream& out) {
  int failed = 0;
  double hours = 0;
  Counts faults, leaders;
  const auto scenario_at = [&](std::size_t at) { return scenario_of(first + at); };
  run_apart(last - first + 1, jobs, scenario_at, [&](std::size_t at, const Outcome& outcome) {
    out << outcome.summary << std::flush;
    hours += outcome.hours;
    add(faults, outcome.faults);
    add(leaders, outcome.leaders);
    if (outcome.failed.empty()) return;
    ++failed;
    out << "again: fairlead-sim --seed " << first + at << "; smaller: fairlead-sim --seed "
        << first + at << " --shrink\n"
        << std::flush;
  });
  out << "faults by kind:" << text_of(faults) << "\n"
      << last - first + 1 << " seeds, " << failed << " failed, " << static_cast<std::int64_t>(hours)
      << " hours of virtual time, " << text_of_leaders(leaders) << "\n";
  return failed;
}

// Each number is tried at its least, then at the half of what it is, as long as that helps.
int shrink(const Scenario& scenario, std::ostream& out) {
  const std::string failed = run_apart(scenario).failed;
  if (failed.empty()) {
    out << "this storm does not fail\n";
    return 0;
  }
  Scenario smallest = scenario;
  for (bool smaller = true; std::exchange(smaller, false);) {
    Scenario tried = smallest;
    const std::vector<StormField> fields = fields_of(tried.storm);
    for (std::size_t at = 1; at < fields.size(); ++at) {
      const StormField& field = fields[at];
      for (const std::int64_t value : {field.least, *field.value / 2}) {
        const std::int64_t before = *field.value;
        if (value >= before || value < field.least || !field.shrinks) continue;
        *field.value = value;
        if (run_apart(tried).failed == failed) {
          smaller = true;
          break;
        }
        *field.value = before;
      }
    }
    smallest = tried;
  }
  out << "# " << failed << "\n" << storm_text(smallest.storm) << run_apart(smallest).summary;
  return 1;
}

}  // namespace fairlead::simulation
