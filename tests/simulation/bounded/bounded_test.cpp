// Four steps of a story are explored here; FAIRLEAD_EXHAUSTIVE=1 explores eight, and seven of which
// one happens twice.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "tests/simulation/bounded/stories.h"
#include "tests/support/sample.h"

namespace fairlead {
namespace {

void explored(const Story& story) {
  std::vector<std::pair<std::size_t, std::size_t>> bounds{{kSanitized ? 2 : 4, 1}};
  if (std::getenv("FAIRLEAD_EXHAUSTIVE") != nullptr) bounds = {{8, 0}, {7, 1}};
  for (const auto& [steps, duplicates] : bounds)
    for (const Duration gap : {Duration{}, seconds(20)}) {
      const StoryCounts counts = explore(story, {steps, duplicates, gap});
      std::cout << story.name << ", " << steps << " steps and " << duplicates << " duplicate, "
                << gap.ns / seconds(1).ns << " s between them: " << counts.states << " states, "
                << counts.merged << " merged" << std::endl;
      CHECK(counts.states > (kSanitized ? 5U : 20U));
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
TEST_CASE("Every order, loss and duplicate of what happens to queues") {
  explored(story_of_queues());
}
TEST_CASE("Every order, loss and duplicate of what happens to the configuration") {
  explored(story_of_configuration());
}

}  // namespace
}  // namespace fairlead
