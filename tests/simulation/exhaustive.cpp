#include <algorithm>
#include <utility>
#include <vector>

#include "tests/simulation/ending.h"
#include "tests/simulation/runs.h"

namespace fairlead::simulation {
namespace {

/// So many writes more than in the undisturbed run are no storm of their own: a lost answer, a
/// restart or a stale view each cost some writes again. The most is thirteen: a silent stream of
/// queues, of which each of two is refused six times before the hub lists them anew.
constexpr std::uint64_t kWritesMoreMax = 16;

struct Point {
  FaultKind kind;
  std::int64_t at;   ///< which of its occasions, from 1
  std::int64_t way;  ///< Faults::first_way
};

// A process that dies while it appends or sends has done it, or not; so has a disk that fails.
bool goes_two_ways(FaultKind kind) {
  return kind == FaultKind::deaths_at_append || kind == FaultKind::deaths_at_send ||
         kind == FaultKind::append_errors;
}

std::vector<Point> points_of(const Outcome& calm, std::int64_t every) {
  std::vector<Point> points;
  for (std::size_t number = 0; number < kFaultKinds; ++number) {
    const auto kind = static_cast<FaultKind>(number);
    if (kind == FaultKind::unsaid_losses) continue;  // nothing that Kubernetes does
    for (std::int64_t at = 1; at <= calm.occasions[number]; at += every)
      for (std::int64_t way = 0; way < (goes_two_ways(kind) ? 2 : 1); ++way)
        points.push_back({kind, at, way});
  }
  return points;
}

// What the runs of one kind came to.
struct Sum {
  int runs = 0, failed = 0;
  std::uint64_t least = UINT64_MAX, most = 0;  ///< writes
};

}  // namespace

int run_exhaustive(const Scenario& scenario, std::int64_t every, int jobs, std::ostream& out) {
  const Scenario calm{undisturbed(scenario.storm), scenario.incident};
  const Outcome undisturbed_run = run_here(calm, {});
  out << "undisturbed: " << undisturbed_run.summary;
  if (!undisturbed_run.failed.empty()) return 1;
  (void)undisturbed_ending(calm.storm, calm.incident);  // once, for all processes
  const std::vector<Point> points = points_of(undisturbed_run, every);
  const auto scenario_at = [&](std::size_t at) {
    Scenario one = calm;
    one.storm.once_kind = static_cast<std::int64_t>(points[at].kind) + 1;
    one.storm.once_at = points[at].at;
    one.storm.once_way = points[at].way;
    return one;
  };
  std::array<Sum, kFaultKinds> sums{};
  int failed = 0;
  run_apart(points.size(), jobs, scenario_at, [&](std::size_t at, const Outcome& outcome) {
    Sum& sum = sums[static_cast<std::size_t>(points[at].kind)];
    ++sum.runs;
    sum.least = std::min(sum.least, outcome.writes);
    sum.most = std::max(sum.most, outcome.writes);
    std::string why;
    if (!outcome.failed.empty())
      why = outcome.summary;
    else if (outcome.writes > undisturbed_run.writes + kWritesMoreMax)
      why = "it needs " + std::to_string(outcome.writes) + " writes\n";
    if (why.empty()) return;
    ++sum.failed;
    ++failed;
    out << "FAILED with this storm: " << why << storm_text(scenario_at(at).storm) << std::flush;
  });
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
    if (const Sum& sum = sums[kind]; sum.runs > 0)
      out << kFaultNames[kind] << ": " << sum.runs << " runs of " << undisturbed_run.occasions[kind]
          << " places, " << sum.failed << " failed, " << sum.least << " to " << sum.most
          << " writes, undisturbed " << undisturbed_run.writes << "\n";
  out << points.size() << " points, " << failed << " failed\n";
  return failed;
}

}  // namespace fairlead::simulation
