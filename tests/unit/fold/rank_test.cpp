#include "engine/fold/multikueue/rank.h"

#include <catch2/catch.hpp>

#include "engine/fold/state.h"

namespace fairlead::rank_test {
namespace {

// A Placement gpu that weighs score `free` of `usage` with 2 and `age` of `cost` with -1.
struct Hub {
  State state;
  PlacementFacts& placement = state.multikueue.placements[{"kueue-system", "gpu"}].facts;
  AddOnPlacementScoreFacts& usage = state.multikueue.scores[{"east", "usage"}].facts;
  AddOnPlacementScoreFacts& cost = state.multikueue.scores[{"east", "cost"}].facts;
  LogTime next = kForever;

  Hub() {
    state.now = LogTime{} + seconds(100);
    placement.prioritizers = {{"cost", "age", -1}, {"usage", "free", 2}};
    usage.scores = {{"free", 80}, {"other", 1}};
    cost.scores = {{"age", 30}};
  }
  std::optional<Int128> rank() { return rank_of(state, "gpu", "east", next); }
};

TEST_CASE("rank: the sum of weight times score") {
  Hub hub;
  CHECK(hub.rank() == Int128{130});
  CHECK(hub.next == kForever);
  hub.placement.prioritizers[1].weight = INT64_MAX;  // it does not wrap
  CHECK(hub.rank() == Int128{INT64_MAX} * 80 - 30);
  hub.placement.prioritizers.clear();
  CHECK(hub.rank() == Int128{0});
}

TEST_CASE("rank: there is none while a score is missing, expired or out of range") {
  Hub hub;
  SECTION("no such score") { hub.usage.scores.erase("free"); }
  SECTION("no object of the cluster") { hub.state.multikueue.scores.erase({"east", "cost"}); }
  SECTION("expired: at that very time") { hub.usage.valid_until = hub.state.now; }
  SECTION("above") { hub.usage.scores["free"] = kScoreMax + 1; }
  SECTION("below") { hub.usage.scores["free"] = -kScoreMax - 1; }
  SECTION("the Placement is elsewhere") { hub.state.configuration.kueue_namespace = "other"; }
  CHECK_FALSE(hub.rank());
}

TEST_CASE("rank: the ends of the range count") {
  Hub hub;
  hub.usage.scores["free"] = kScoreMax;
  hub.cost.scores["age"] = -kScoreMax;
  CHECK(hub.rank() == Int128{300});
}

TEST_CASE("rank: the first expiry is when it is to be looked at again") {
  Hub hub;
  hub.usage.valid_until = hub.state.now + seconds(60);
  hub.cost.valid_until = hub.state.now + seconds(30);
  CHECK(hub.rank());
  CHECK(hub.next == hub.state.now + seconds(30));
  hub.next = hub.state.now + seconds(10);  // only ever lowered
  hub.rank();
  CHECK(hub.next == hub.state.now + seconds(10));
}

TEST_CASE("rank: scores out of range are named, others and absent ones are not") {
  Hub hub;
  const auto lines = [&] { return scores_out_of_range(hub.state, "gpu", "east"); };
  CHECK(lines().empty());
  hub.usage.scores = {{"free", 101}, {"other", 5000}};
  hub.cost.scores.clear();
  CHECK(lines() == std::vector<std::string>{
                       "AddOnPlacementScore east/usage: score free is ignored, 101 is not in "
                       "-100..100"});
  CHECK(scores_out_of_range(hub.state, "none", "east").empty());
}

}  // namespace
}  // namespace fairlead::rank_test
