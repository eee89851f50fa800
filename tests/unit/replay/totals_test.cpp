#include "replay/totals.h"

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

}  // namespace
}  // namespace fairlead::bench
