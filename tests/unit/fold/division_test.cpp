#include "engine/fold/claims/division.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace fairlead;

namespace {

std::vector<Amount> granted(const std::vector<Share>& shares, Amount bound, Amount quantum,
                            ShrinkPolicy policy = ShrinkPolicy::proportional) {
  return divide(shares, bound, quantum, policy).granted;
}

}  // namespace

TEST_CASE("every share gets its assignment where all fit, also below the quantum") {
  CHECK(granted({{"a", "f", 1500}, {"b", "f", 3000}}, 4500, 1000) ==
        std::vector<Amount>{1500, 3000});
}

TEST_CASE("a bound that is too small is floored to the quantum and divided in proportion") {
  CHECK(granted({{"a", "f", 500}, {"b", "f", 500}}, 800, 1) == std::vector<Amount>{400, 400});
  CHECK(granted({{"a", "f", 6000}, {"b", "f", 3000}}, 4500, 1000) ==
        std::vector<Amount>{3000, 1000});
}

TEST_CASE("left-over quanta go by largest remainder, then priority, queue and flavor") {
  CHECK(granted({{"b", "f", 3}, {"a", "f", 3}}, 3, 1) == std::vector<Amount>{1, 2});
  CHECK(granted({{"b", "f", 3, 0, 7}, {"a", "f", 3}}, 3, 1) == std::vector<Amount>{2, 1});
  CHECK(granted({{"a", "f", 1}, {"b", "f", 5}, {"c", "f", 5}}, 7, 1) ==
        std::vector<Amount>{1, 3, 3});
}

TEST_CASE(
    "a left-over quantum that would exceed the assignment goes to the next, and what fits nowhere "
    "stays") {
  // 2.5 quanta each are wanted; half a quantum cannot be taken on top of two.
  CHECK(granted({{"a", "f", 2500}, {"b", "f", 2600}}, 5000, 1000) ==
        std::vector<Amount>{2000, 2000});
}

TEST_CASE("minimums come first, and are shared in proportion where they alone do not fit") {
  CHECK(granted({{"a", "f", 10, 4}, {"b", "f", 10, 0}}, 8, 1) == std::vector<Amount>{6, 2});
  const Division division =
      divide({{"a", "f", 10, 6}, {"b", "f", 10, 3}}, 3, 1, ShrinkPolicy::proportional);
  CHECK(division.granted == std::vector<Amount>{2, 1});
  CHECK(division.minimums_above_bound);
}

TEST_CASE("by priority a lower tier reaches zero before the upper loses anything") {
  const std::vector<Share> shares{{"high", "f", 6, 0, 10}, {"low", "f", 6, 0, 0}};
  CHECK(granted(shares, 8, 1, ShrinkPolicy::priority) == std::vector<Amount>{6, 2});
  CHECK(granted(shares, 6, 1, ShrinkPolicy::priority) == std::vector<Amount>{6, 0});
  CHECK(granted(shares, 4, 1, ShrinkPolicy::priority) == std::vector<Amount>{4, 0});
}

TEST_CASE("the largest amounts neither overflow nor exceed the bound") {
  const Amount most = INT64_MAX;
  const auto shares = granted({{"a", "f", most}, {"b", "f", most}, {"c", "f", most}}, most, 1);
  Int128 sum = 0;
  for (const Amount amount : shares) sum += amount;
  CHECK(sum == most);
}
