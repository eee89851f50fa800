#include "connectors/kube/watch/change_budget.h"

#include <catch2/catch.hpp>

using namespace fairlead;

namespace {

constexpr LogTime at(std::int64_t second) { return LogTime{} + seconds(second); }

}  // namespace

TEST_CASE("a burst passes, one change more does not, until time has paid for it") {
  ChangeBudget budget;
  budget.set(60, 100);  // one a second
  budget.spend(at(10), 100);
  CHECK_FALSE(budget.exceeded(at(10)));
  budget.spend(at(10), 1);
  CHECK(budget.exceeded(at(10)));
  CHECK_FALSE(budget.exceeded(at(11)));
}

TEST_CASE("what is paid for each minute goes on for ever, no matter how it is spread") {
  ChangeBudget budget;
  budget.set(60, 60);
  for (int second = 0; second < 100'000; second += 10) {
    budget.spend(at(second), 10);
    REQUIRE_FALSE(budget.exceeded(at(second)));
  }
  int taken = 0;  // with one more in each ten seconds it ends once the burst is used up
  for (int second = 100'000; !budget.exceeded(at(second)); second += 10, ++taken)
    budget.spend(at(second), 11);
  CHECK(taken == 61);
}

TEST_CASE("less than a minute's worth at once is never refused") {
  ChangeBudget budget;
  budget.set(60, 1);
  budget.spend(at(0), 60);
  CHECK_FALSE(budget.exceeded(at(0)));
  budget.spend(at(0), 1);
  CHECK(budget.exceeded(at(0)));
}

TEST_CASE("recovery lasts until a minute's worth may come") {
  ChangeBudget budget;
  budget.set(60, 100);
  CHECK(budget.recovery(at(0)) == Duration{});
  budget.spend(at(0), 40);
  CHECK(budget.recovery(at(0)) == Duration{});
  budget.spend(at(0), 70);
  CHECK(budget.recovery(at(0)) == seconds(70));
  CHECK(budget.recovery(at(30)) == seconds(40));
  CHECK(budget.recovery(at(70)) == Duration{});
  budget.spend(at(70), 60);
  CHECK_FALSE(budget.exceeded(at(70)));
}

TEST_CASE("no more than twice the burst is owed, however much came") {
  ChangeBudget budget;
  budget.set(60, 100);
  for (int i = 0; i < 10; ++i) budget.spend(at(0), std::int64_t{1} << 40);
  CHECK(budget.recovery(at(0)) == seconds(160));
}

TEST_CASE("without a bound nothing is refused, and another one begins anew") {
  ChangeBudget budget;
  budget.spend(at(0), 1'000'000);
  CHECK_FALSE(budget.exceeded(at(0)));
  budget.set(60, 100);
  budget.spend(at(0), 101);
  CHECK(budget.exceeded(at(0)));
  budget.set(0, 100);
  CHECK_FALSE(budget.exceeded(at(0)));
  CHECK(budget.recovery(at(0)) == Duration{});
  budget.set(60, 100);
  CHECK_FALSE(budget.exceeded(at(0)));
}

TEST_CASE("the largest settings do not overflow") {
  ChangeBudget budget;
  budget.set(1, 2'000'000);
  budget.spend(at(1), 2'000'001);
  CHECK(budget.exceeded(at(1)));
  budget.set(1'000'000, 2'000'000);
  budget.spend(at(1), 2'000'000);
  CHECK_FALSE(budget.exceeded(at(1)));
  budget.spend(at(1), 1);
  CHECK(budget.exceeded(at(1)));
}
