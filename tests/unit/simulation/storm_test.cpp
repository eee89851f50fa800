// Storms as data: what a file says, and what makes a run happen again.
#include "tests/simulation/storm.h"

#include <catch2/catch.hpp>

#include "tests/simulation/world.h"

using namespace fairlead;
using namespace fairlead::simulation;

TEST_CASE("a storm reads back from its text, and a seed's storm is always the same") {
  for (const std::uint64_t seed : {1U, 7U, 300U}) {
    const Storm storm = storm_of(seed);
    const std::string text = storm_text(storm);
    const auto again = read_storm(text, "a.storm");
    REQUIRE(again.has_value());
    CHECK(storm_text(*again) == text);
    CHECK(storm_text(storm_of(seed)) == text);
  }
  CHECK(storm_text(storm_of(1)) != storm_text(storm_of(2)));
}

TEST_CASE("a storm that cannot be read is refused with file and line") {
  const auto refusal = [](std::string_view text) {
    const auto read = read_storm(text, "a.storm");
    REQUIRE_FALSE(read.has_value());
    return read.error().message;
  };
  CHECK(refusal("# calm\nrain 3\n") == "a.storm:2: no storm has \"rain\"");
  CHECK(refusal("members 3\n\nnodes many") ==
        "a.storm:3: nodes: expected a number from 1 to 10000");
  CHECK(refusal("replicas 6") == "a.storm:1: replicas: expected a number from 1 to 5");
}

TEST_CASE("the same storm gives the same run") {
  Storm storm;
  storm.minutes = 20;
  storm.settle_minutes = 30;
  storm.members = 1;
  storm.nodes = 3;
  storm.faults[static_cast<std::size_t>(FaultKind::lost_lines)] = 100;
  storm.faults[static_cast<std::size_t>(FaultKind::deaths_at_append)] = 20;
  std::string first;
  for (int run = 0; run < 2; ++run) {
    World world(storm, {});
    const auto failure = world.run();
    REQUIRE_FALSE(failure.has_value());
    CHECK(!world.record().faults.empty());
    CHECK(!world.record().events.empty());
    if (run == 0)
      first = world.digest().hex();
    else
      CHECK(world.digest().hex() == first);
  }
}
