// Damping on the same traces: Fairlead's defaults against no debounce, a fixed delay of 15 s, and
// the windows of a Pod autoscaler. These figures are of virtual time: every machine has the same.
#include "tests/bench/benches.h"
#include "tests/bench/debounce_traces.h"

namespace fairlead::bench {

namespace {

using Figure = double (*)(const DebounceTrace&, const Totals&);
using MakeTrace = DebounceTrace (*)(TraceLength);

// Added to both sides, so that zero against zero counts as equal.
constexpr double kNothing = 1e-9;

double patches(const DebounceTrace&, const Totals& totals) {
  return static_cast<double>(totals.queue_writes) + kNothing;
}
double over_quota(const DebounceTrace&, const Totals& totals) {
  return static_cast<double>(totals.over_quota.ns) / 1e9 + kNothing;
}
double under_quota(const DebounceTrace&, const Totals& totals) {
  const auto gpus = totals.under.find("nvidia.com/gpu");
  return (gpus == totals.under.end() ? 0 : static_cast<double>(gpus->second) / 1e9 / 3600) +
         kNothing;
}
double slowest_shrink(const DebounceTrace&, const Totals& totals) {
  return static_cast<double>(totals.slowest_shrink.ns) / 1e9 + kNothing;
}
double patches_per_change(const DebounceTrace& trace, const Totals& totals) {
  return (static_cast<double>(totals.queue_writes) + kNothing) / static_cast<double>(trace.changes);
}

struct Row {
  const char* name;
  MakeTrace trace;
  Figure figure;
  const char* unit;
  Configuration (*against)();
  const char* bound;
  Better better;
  double limit;
};

constexpr double kInformation = 0;

}  // namespace

void add_debounce_benches(Suite& suite) {
  constexpr auto less = Better::less;
  constexpr auto known = Better::more;  // with limit 0: a figure to know
  const Row rows[] = {
      {"flap/patches", node_flap, patches, "patches", no_debounce, "no debounce", less, 0.01},
      {"flap/over-quota", node_flap, over_quota, "s", fixed_delay, "fixed 15 s delay", less, 1},
      {"upgrade/patches", rolling_upgrade, patches, "patches", no_debounce, "no debounce", less, 1},
      {"upgrade/over-quota", rolling_upgrade, over_quota, "s", fixed_delay, "fixed 15 s delay",
       less, 1},
      {"failure/patches", mass_failure, patches, "patches", no_debounce, "no debounce", less, 1},
      {"failure/over-quota", mass_failure, over_quota, "s", fixed_delay, "fixed 15 s delay", less,
       1},
      {"failure/slowest shrink", mass_failure, slowest_shrink, "s", pod_autoscaler,
       "pod autoscaler windows", less, 1},
      {"wipe/patches", status_wipe, patches, "patches", no_debounce, "no debounce", less, 1},
      {"wipe/over-quota", status_wipe, over_quota, "s", fixed_delay, "fixed 15 s delay", less, 1},
      {"drift/patches", slow_drift, patches, "patches", no_debounce, "no debounce", less, 1},
      {"drift/over-quota", slow_drift, over_quota, "s", fixed_delay, "fixed 15 s delay", less, 1},
      {"flap/patches per change", node_flap, patches_per_change, "1", no_debounce, "no debounce",
       known, kInformation},
      {"flap/under-quota", node_flap, under_quota, "GPU h", fixed_delay, "fixed 15 s delay", known,
       kInformation},
      {"upgrade/under-quota", rolling_upgrade, under_quota, "GPU h", fixed_delay,
       "fixed 15 s delay", known, kInformation},
      {"failure/under-quota", mass_failure, under_quota, "GPU h", fixed_delay, "fixed 15 s delay",
       known, kInformation},
      {"flap/over-quota of a pod autoscaler", node_flap, over_quota, "s", pod_autoscaler,
       "pod autoscaler windows", less, 1},
  };
  for (const Row& row : rows)
    suite.add({std::string("debounce/") + row.name, row.bound, row.unit, row.better, row.limit,
               [row](const Place& place) {
                 const auto length =
                     place.size == Size::full ? TraceLength::full : TraceLength::tiny;
                 const auto figure = [row, length](const Configuration& configuration) {
                   const DebounceTrace trace = row.trace(length);
                   return row.figure(trace, damped(trace, configuration));
                 };
                 return Trial{[figure] { return figure(ours()); },
                              [figure, row] { return figure(row.against()); }};
               }});
}

}  // namespace fairlead::bench
