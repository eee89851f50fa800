// A day of a hub and three member clusters on one thread, in virtual time.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/simulation/world.h"

using namespace fairlead;
using namespace fairlead::simulation;

namespace {

template <class T>
std::ptrdiff_t count(const Record& record) {
  return std::ranges::count_if(record.events, [](const SeenEvent& seen) {
    return std::holds_alternative<T>(seen.event.fact);
  });
}

}  // namespace

// The checkers judge each run: at its end the queues have what the machines of members offer.
TEST_CASE("a day in virtual time ends with the quotas that members have, twice with the same log") {
  Storm day;
  day.minutes = 21 * 60;
  day.settle_minutes = 3 * 60;  // a cluster that flapped is suppressed for an hour at most
  day.nodes = 6;
  day.node_changes = 100;
  day.foreign_quotas = 0;
  World first(day, {}), second(day, {});
  for (World* world : {&first, &second}) {
    const auto failure = world->run();
    INFO((failure ? failure->checker + ": " + failure->what : ""));
    REQUIRE_FALSE(failure.has_value());
    const Record& record = world->record();
    CHECK(record.faults.empty());
    CHECK(count<PatchAccepted>(record) > 50);
    CHECK(count<PatchRejected>(record) == 0);
    CHECK(world->now() - record.began >= hours(24));
  }
  CHECK(first.log(0).last_seq() == second.log(0).last_seq());
  CHECK(first.digest() == second.digest());
}
