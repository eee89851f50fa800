#include "replay/whatif/totals.h"

#include <catch2/catch.hpp>

#include "tests/bench/debounce_traces.h"

namespace fairlead::bench {
namespace {

TEST_CASE("on flapping nodes at most one write in a hundred is left") {
  const DebounceTrace trace = node_flap(TraceLength::tiny);
  const Totals none = damped(trace, no_debounce());
  const Totals ours_totals = damped(trace, ours());
  CHECK(none.queue_writes * 2 >= trace.changes);  // changes at one moment are one write
  INFO(to_json(ours_totals) << " against " << to_json(none));
  CHECK(ours_totals.queue_writes * 100 <= none.queue_writes);
}

TEST_CASE("over-quota never lasts longer than with a fixed delay of 15 s") {
  for (const DebounceTrace& trace : debounce_traces(TraceLength::tiny)) {
    const Totals fixed = damped(trace, fixed_delay());
    const Totals ours_totals = damped(trace, ours());
    INFO(trace.name << ": " << to_json(ours_totals) << " against " << to_json(fixed));
    CHECK(ours_totals.over_quota <= fixed.over_quota);
    CHECK(ours_totals.slowest_shrink <= fixed.slowest_shrink);
    CHECK(ours_totals.queue_writes <= damped(trace, no_debounce()).queue_writes);
  }
}

TEST_CASE("nothing is promised too long where nothing is damped") {
  for (const DebounceTrace& trace : debounce_traces(TraceLength::tiny)) {
    const Totals none = damped(trace, no_debounce());
    INFO(trace.name << ": " << to_json(none));
    CHECK(none.over_quota == Duration{0});
    // Whole GPUs are promised to the last; of cpu a part of a core is always left.
    CHECK_FALSE(none.under.contains("nvidia.com/gpu"));
  }
}

TEST_CASE("a failure of half the nodes is over-quota for the window, under-quota for the growth") {
  const DebounceTrace trace = mass_failure(TraceLength::tiny);
  const Totals totals = damped(trace, ours());
  CHECK(totals.safe_shrinks == 2);  // cpu and GPUs
  CHECK(totals.slowest_shrink >= seconds(15));
  CHECK(totals.slowest_shrink < seconds(25));
  CHECK(totals.under.at("nvidia.com/gpu") > Int128{8 * 50} * minutes(4).ns);
}

/// One cluster whose nodes give `usable` cores of a flavor, of which a queue carries `promised`.
State promised_of(std::int64_t at_second, Amount usable, Amount promised) {
  State state;
  state.now = LogTime{seconds(at_second).ns};
  Cluster& cluster = state.clusters["c1"];
  cluster.valued = true;
  cluster.source = CapacitySource::nodes;
  cluster.mapped.insert({"od", "cpu"});
  cluster.capacity[{"od", "cpu"}].damped.usable = usable;
  Queue& queue = state.queues.by_name["training"];
  queue.present = true;
  queue.written_groups.emplace();
  queue.contributed.push_back({"c1", "od", "cpu", promised});
  return state;
}

TEST_CASE("over-quota that ends and begins at one moment is one span") {
  DirtySet all;
  all.everything = true;
  TotalsMeter meter;
  meter.decided(promised_of(0, 10, 12), all);
  meter.decided(promised_of(10, 12, 12), all);  // more is usable,
  meter.decided(promised_of(10, 12, 14), all);  // and more is promised at once
  const Totals open = meter.totals(LogTime{seconds(20).ns});
  CHECK(open.safe_shrinks == 0);
  CHECK(open.over_quota == seconds(20));
  CHECK(open.slowest_shrink == seconds(20));
  meter.decided(promised_of(20, 14, 14), all);
  CHECK(meter.totals(LogTime{seconds(20).ns}).safe_shrinks == 1);
  CHECK(meter.totals(LogTime{seconds(30).ns}).safe_shrinks == 1);
  CHECK(meter.totals(LogTime{seconds(30).ns}).over_quota == seconds(20));
}

}  // namespace
}  // namespace fairlead::bench
