#include "engine/fold/memo.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/evolve.h"

namespace fairlead {
namespace {

TEST_CASE("A memo is no part of a value: it is not copied or compared, and moves along") {
  Memo<std::vector<int>> memo;
  *memo = {1, 2};
  const Memo<std::vector<int>> copy = memo;
  CHECK(copy->empty());
  CHECK(memo->size() == 2);
  CHECK(copy == memo);
  Memo<std::vector<int>> assigned;
  *assigned = {3};
  assigned = memo;
  CHECK(assigned->empty());
  Memo<std::vector<int>> moved = std::move(memo);
  CHECK(moved->size() == 2);
  assigned = std::move(moved);
  CHECK(assigned->size() == 2);
}

TEST_CASE("A copy of a state finds its own clusters") {
  State state;
  mark_cluster_dirty(state, "east").reports.nodes_known = true;
  State copy = state;
  mark_cluster_dirty(copy, "east").presence.detached = true;
  CHECK_FALSE(state.clusters.at("east").presence.detached);
  CHECK(copy.clusters.at("east").presence.detached);
  CHECK(copy.clusters.at("east").reports.nodes_known);
}

TEST_CASE("The terms of a cluster are those of the present claim and configuration") {
  State state;
  DirtySet dirty;
  const auto take = [&](Fact fact) {
    evolve(
        state,
        {next(state.seq), state.now + seconds(1), Epoch{1}, std::string(kHub), {}, std::move(fact)},
        dirty);
  };
  const auto window = [&] {
    Cluster& cluster = mark_cluster_dirty(state, "east");
    const Duration kept = terms_of(state, "east", cluster).settings.shrink_window;
    CHECK(kept == settings_of(state, "east").shrink_window);
    return kept;
  };
  Configuration configuration;
  configuration.debounce.shrink_window = seconds(20);
  take(ConfigChanged{configuration});
  CHECK(window() == seconds(20));
  ObjectObserved seen;
  seen.key = {Kind::claim, "", "east-claim"};
  seen.version = "v1alpha1";
  seen.uid = "u1";
  ClaimFacts claim;
  claim.spec.cluster_name = "east";
  claim.debounce = {{"shrinkWindow", "40s"}};
  seen.facts = claim;
  take(seen);
  CHECK(window() == seconds(40));
  claim.debounce = {{"shrinkWindow", "50s"}};
  seen.facts = claim;
  take(seen);
  CHECK(window() == seconds(50));
  configuration.debounce.shrink_window = seconds(30);
  take(ConfigChanged{configuration});
  CHECK(window() == seconds(50));
  take(ObjectGone{seen.key, "u1", ""});
  CHECK(window() == seconds(30));
}

TEST_CASE("A state that was moved follows the present configuration") {
  State state;
  DirtySet dirty;
  const auto configure = [&](Duration shrink_window) {
    ConfigChanged changed;
    changed.configuration.debounce.shrink_window = shrink_window;
    evolve(state, {next(state.seq), state.now, Epoch{1}, std::string(kSelf), {}, changed}, dirty);
  };
  const auto window = [&] {
    return terms_of(state, "east", mark_cluster_dirty(state, "east")).settings.shrink_window;
  };
  // As often after the move as before it: a count that began anew would come to where it was.
  for (int round = 0; round < 3; ++round) {
    for (int change = 1; change <= 3; ++change) configure(seconds(60 * round + change));
    CHECK(window() == seconds(60 * round + 3));
    State moved = std::move(state);
    state = std::move(moved);
  }
}

}  // namespace
}  // namespace fairlead
