#include "engine/fleet/scaled_clock.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/unit/fleet/stage.h"

using namespace fairlead;

TEST_CASE("a scaled clock stops until it is let pass, then goes no further than that") {
  ScaledClock clock(kStart, 1000);
  CHECK(clock.now() == kStart);
  clock.let_pass(milliseconds(2));
  while (clock.now() < kStart + seconds(2)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(clock.now() == kStart + seconds(2));
}

TEST_CASE("a scaled clock never goes back, however it is let pass") {
  ScaledClock clock(kStart, 1000);
  LogTime last = kStart;
  for (int i = 0; i < 1000; ++i) {
    clock.let_pass(i % 3 == 0 ? Duration{0} : milliseconds(1));
    const LogTime now = clock.now();
    REQUIRE(now >= last);
    last = now;
  }
  CHECK(last > kStart);
}

TEST_CASE("a span of the fleet is shorter on the machine") {
  CHECK(ScaledClock(kStart, 60).on_the_machine(minutes(5)) == seconds(5));
}
