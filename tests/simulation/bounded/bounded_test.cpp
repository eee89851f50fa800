// A few steps of a story are explored here; FAIRLEAD_EXHAUSTIVE=1 explores all eight of each.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "tests/simulation/bounded/stories.h"
#include "tests/support/sample.h"

namespace fairlead {
namespace {

void explored(const Story& story) {
  const bool all = std::getenv("FAIRLEAD_EXHAUSTIVE") != nullptr;
  const std::size_t steps = all ? 8 : kSanitized ? 2 : 4;
  for (const Duration gap : {Duration{}, seconds(20)}) {
    const StoryCounts counts = explore(story, {steps, 1, gap});
    std::cout << story.name << ", " << steps << " steps, " << gap.ns / seconds(1).ns
              << " s between them: " << counts.states << " states, " << counts.merged
              << " merged\n";
    CHECK(counts.states > 20);
  }
}

TEST_CASE("Every order, loss and duplicate of what happens to nodes") {
  explored(story_of_nodes());
}
TEST_CASE("Every order, loss and duplicate of what happens to claims") {
  explored(story_of_claims());
}
TEST_CASE("Every order, loss and duplicate of what happens around writes") {
  explored(story_of_writes());
}

}  // namespace
}  // namespace fairlead
