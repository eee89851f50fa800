#include "engine/fold/capacity/damping.h"

#include <catch2/catch.hpp>

using namespace fairlead;

namespace {

LogTime at(std::int64_t second) { return LogTime{} + seconds(second); }

DebounceSettings plain() {
  DebounceSettings settings;
  settings.grow_deadband_percent = 0;
  settings.min_grow_interval = {0};
  return settings;
}

// A value that has been accepted as `amount` since the start.
DampedValue accepted(Amount amount) {
  DampedValue value;
  value.observe(at(0), amount, amount);
  value.accept_first(FirstValues::present, at(0), plain());
  return value;
}

bool step(DampedValue& value, std::int64_t second, const DebounceSettings& settings,
          Fall fall = Fall::damped) {
  return value.step(at(second), settings, 1, fall, Growth::allowed);
}

}  // namespace

TEST_CASE("first values wait for firstQuiet without a change, and for growWindow at the most") {
  DebounceSettings settings;
  settings.first_quiet = seconds(10);
  settings.grow_window = seconds(60);
  CHECK(first_values(at(0), at(5), at(14), settings) == FirstValues::wait);
  CHECK(first_values(at(0), at(5), at(15), settings) == FirstValues::present);
  CHECK(first_values(at(0), at(55), at(59), settings) == FirstValues::wait);
  CHECK(first_values(at(0), at(55), at(60), settings) == FirstValues::least_of_window);
  // A source that is not watched cannot be quiet.
  CHECK(first_values(at(0), std::nullopt, at(59), settings) == FirstValues::wait);
  CHECK(first_values(at(0), std::nullopt, at(60), settings) == FirstValues::least_of_window);
  settings.grow_window = {0};
  CHECK(first_values(at(0), std::nullopt, at(0), settings) == FirstValues::present);
}

TEST_CASE("the first value is the present one, or the least of growWindow") {
  DebounceSettings settings;
  settings.grow_window = seconds(60);
  DampedValue value;
  value.observe(at(0), 50, 40);
  value.observe(at(30), 90, 80);
  value.accept_first(FirstValues::present, at(60), settings);
  CHECK(value.accepted == 80);
  value.accept_first(FirstValues::least_of_window, at(60), settings);
  CHECK(value.accepted == 40);
}

TEST_CASE("a fall is followed when the shrink window has passed, to the second") {
  DampedValue value = accepted(100);
  value.observe(at(10), 60, 60);
  CHECK_FALSE(step(value, 10, plain()));
  CHECK(value.next_deadline(at(10), plain()) == at(25));
  CHECK_FALSE(step(value, 24, plain()));
  CHECK(step(value, 25, plain()));
  CHECK(value.accepted == 60);
}

TEST_CASE("a fall that recovers within the window changes nothing") {
  DampedValue value = accepted(100);
  value.observe(at(10), 60, 60);
  value.observe(at(20), 100, 100);
  CHECK_FALSE(step(value, 25, plain()));
  CHECK_FALSE(step(value, 100, plain()));
  CHECK(value.accepted == 100);
}

TEST_CASE("a fall counts at once where it must") {
  DampedValue value = accepted(100);
  value.observe(at(10), 60, 60);
  CHECK(step(value, 10, plain(), Fall::at_once));
  CHECK(value.accepted == 60);
}

TEST_CASE("a rise is followed once its minimum has been sustained for the grow window") {
  DampedValue value = accepted(100);
  value.observe(at(10), 200, 200);
  value.observe(at(100), 150, 150);
  CHECK_FALSE(step(value, 100, plain()));
  CHECK(value.next_deadline(at(100), plain()) == at(310));
  CHECK(step(value, 310, plain()));
  CHECK(value.accepted == 150);
}

TEST_CASE("a node that flaps counts for shrinking and not for growing") {
  DampedValue value = accepted(100);
  value.observe(at(10), 50, 50);
  CHECK(step(value, 25, plain()));
  value.observe(at(30), 100, 50);
  CHECK_FALSE(step(value, 400, plain()));
  CHECK(value.accepted == 50);
}

TEST_CASE("a rise below the deadband waits until the gap is old") {
  DebounceSettings settings;
  settings.min_grow_interval = {0};
  DampedValue value = accepted(1000);
  value.observe(at(0), 1010, 1010);
  CHECK_FALSE(step(value, 300, settings));
  const LogTime old_enough = at(300) + settings.deadband_max_age;
  CHECK(value.next_deadline(at(300), settings) == old_enough);
  CHECK(value.step(old_enough, settings, 1, Fall::damped, Growth::allowed));
  CHECK(value.accepted == 1010);
}

TEST_CASE("a value that was accepted a moment ago is not held by the deadband") {
  DebounceSettings settings;
  settings.min_grow_interval = {0};
  DampedValue value = accepted(1000);
  value.observe(at(10), 999, 999);
  CHECK(step(value, 25, settings));
  value.observe(at(30), 1000, 1000);
  CHECK(step(value, 330, settings));
  CHECK(value.accepted == 1000);
}

TEST_CASE("of the values that were accepted lately the last 256 are remembered") {
  DebounceSettings settings = plain();
  settings.grow_window = settings.shrink_window = {0};
  DampedValue value = accepted(0);
  const std::int64_t many = 3 * static_cast<std::int64_t>(kLeftMax);
  // A cluster fills up node by node, within deadbandMaxAge.
  for (std::int64_t i = 1; i <= many; ++i) {
    value.observe(at(i), i, i);
    REQUIRE(step(value, i, settings));
    REQUIRE(value.left.size() <= kLeftMax);
  }
  CHECK(value.left.front().value == many - static_cast<std::int64_t>(kLeftMax));
  CHECK(value.left.back().value == many - 1);
  // Falls count like growths.
  for (std::int64_t i = 1; i <= many; ++i) {
    value.observe(at(many + i), many - i, many - i);
    REQUIRE(step(value, many + i, settings));
    REQUIRE(value.left.size() <= kLeftMax);
  }
  CHECK(value.left.back().value == 1);
  CHECK(value.left.size() == kLeftMax);
}

TEST_CASE("growth keeps its interval") {
  DebounceSettings settings = plain();
  settings.min_grow_interval = seconds(1000);
  DampedValue value = accepted(10);
  value.observe(at(0), 20, 20);
  CHECK(step(value, 300, settings));
  value.observe(at(310), 30, 30);
  CHECK_FALSE(step(value, 610, settings));
  CHECK(value.next_deadline(at(610), settings) == at(1300));
  CHECK(step(value, 1300, settings));
  CHECK(value.accepted == 30);
}

TEST_CASE("a growth tells which bar ended: the grow window") {
  DampedValue value = accepted(100);
  value.observe(at(10), 200, 200);
  CHECK_FALSE(step(value, 10, plain()));
  CHECK(step(value, 310, plain()));
  CHECK(value.grew_by == GrowthCause::grow_window);
  CHECK(value.held_by == GrowthBar::none);
}

TEST_CASE("a growth tells which bar ended: the interval since the last one") {
  DebounceSettings settings = plain();
  settings.min_grow_interval = seconds(1000);
  DampedValue value = accepted(10);
  value.observe(at(0), 20, 20);
  CHECK(step(value, 300, settings));
  CHECK(value.grew_by == GrowthCause::grow_window);
  value.observe(at(310), 30, 30);
  CHECK_FALSE(step(value, 610, settings));
  CHECK(value.held_by == GrowthBar::min_grow_interval);
  CHECK(step(value, 1300, settings));
  CHECK(value.grew_by == GrowthCause::min_grow_interval);
}

TEST_CASE("a growth tells which bar ended: the deadband, by its age") {
  DebounceSettings settings;
  settings.min_grow_interval = {0};
  DampedValue value = accepted(1000);
  value.observe(at(0), 1010, 1010);
  CHECK_FALSE(step(value, 300, settings));
  CHECK(value.held_by == GrowthBar::deadband);
  CHECK(step(value, 300 + 1800, settings));
  CHECK(value.grew_by == GrowthCause::deadband_max_age);
}

TEST_CASE("where the target rises out of the deadband the window gave way") {
  DebounceSettings settings;
  settings.min_grow_interval = {0};
  DampedValue value = accepted(1000);
  value.observe(at(0), 1010, 1010);
  CHECK_FALSE(step(value, 300, settings));
  value.observe(at(400), 1050, 1050);
  CHECK_FALSE(step(value, 400, settings));
  CHECK(value.held_by == GrowthBar::deadband);
  CHECK(value.next_deadline(at(400), settings) == at(700));
  CHECK(step(value, 700, settings));
  CHECK(value.accepted == 1050);
  CHECK(value.grew_by == GrowthCause::grow_window);
}

TEST_CASE("where the target falls to a value of lately the deadband gave way before its age") {
  DebounceSettings settings;
  settings.min_grow_interval = {0};
  DampedValue value = accepted(1005);
  value.observe(at(10), 1000, 1000);
  CHECK(step(value, 25, settings));
  value.observe(at(30), 1010, 1010);
  CHECK_FALSE(step(value, 330, settings));
  CHECK(value.held_by == GrowthBar::deadband);
  value.observe(at(400), 1005, 1005);
  CHECK(step(value, 400, settings));
  CHECK(value.accepted == 1005);
  CHECK(value.grew_by == GrowthCause::deadband);
}

TEST_CASE("a bar that another configuration ends is reported as what it was") {
  DebounceSettings settings;
  settings.min_grow_interval = {0};
  DampedValue value = accepted(1000);
  value.observe(at(0), 1010, 1010);
  CHECK_FALSE(step(value, 300, settings));
  SECTION("the deadband is smaller") {
    settings.grow_deadband_percent = 1;
    CHECK(step(value, 500, settings));
    CHECK(value.grew_by == GrowthCause::deadband);
  }
  SECTION("its age is shorter") {
    settings.deadband_max_age = seconds(150);
    CHECK(step(value, 500, settings));
    CHECK(value.grew_by == GrowthCause::deadband_max_age);
  }
}

TEST_CASE("of two bars that end at one moment the first in their order is reported") {
  DebounceSettings settings;
  settings.min_grow_interval = seconds(2100);
  DampedValue value = accepted(900);
  value.observe(at(0), 1000, 1000);
  CHECK(step(value, 300, settings));
  value.observe(at(300), 1010, 1010);
  CHECK_FALSE(step(value, 600, settings));  // the gap is 1800 s old at 2400 s, the interval over
  CHECK(step(value, 2400, settings));
  CHECK(value.grew_by == GrowthCause::min_grow_interval);
  value.observe(at(2410), 1200, 1200);
  settings.min_grow_interval = seconds(310);
  CHECK_FALSE(step(value, 2410, settings));
  CHECK(step(value, 2710, settings));  // and the window
  CHECK(value.grew_by == GrowthCause::grow_window);
}

TEST_CASE("after its source was away a value is held by the window alone") {
  DebounceSettings settings = plain();
  DampedValue value = accepted(10);
  value.observe(at(0), 20, 20);
  CHECK_FALSE(value.step(at(310), settings, 1, Fall::damped, Growth::frozen));
  CHECK(value.held_by == GrowthBar::frozen);
  value.begin_anew(at(400));
  CHECK_FALSE(step(value, 400, settings));
  CHECK(step(value, 700, settings));
  CHECK(value.grew_by == GrowthCause::grow_window);
}

TEST_CASE(
    "with the defaults the fourth quick flap suppresses, until the penalty has halved twice") {
  const DebounceSettings settings;
  FlapPenalty flap;
  CHECK_FALSE(flap.add(at(0), settings));
  CHECK_FALSE(flap.add(at(1), settings));
  CHECK_FALSE(flap.add(at(2), settings));
  CHECK(flap.add(at(3), settings));
  CHECK(flap.penalty == 4000);
  const LogTime release = flap.release_time(settings);
  CHECK(flap.at_time(release, settings) < settings.flap_reuse);
  CHECK(flap.at_time(LogTime{release.ns - 1}, settings) >= settings.flap_reuse);
  CHECK(release > at(3) + minutes(30));
  CHECK(release <= at(3) + minutes(31));
}

TEST_CASE("a suppression ends after flapSuppressMax with the penalty just below reuse") {
  const DebounceSettings settings;
  FlapPenalty flap;
  for (int i = 0; i < 100; ++i) flap.add(at(i), settings);
  CHECK(flap.penalty == kFlapPenaltyMax);
  CHECK(flap.release_time(settings) == at(3) + settings.flap_suppress_max);
  flap.release(flap.release_time(settings), settings);
  CHECK(flap.penalty == settings.flap_reuse - 1);
  CHECK_FALSE(flap.suppressed_since);
}

TEST_CASE("an extreme over a window sees exactly the values the window holds") {
  SlidingExtreme high(Extreme::greatest);
  high.push(at(0), 5);
  high.push(at(10), 3);
  high.push(at(20), 4);
  CHECK(high.over(at(20), seconds(15)) == 5);
  CHECK(high.over(at(25), seconds(15)) == 4);
  CHECK(high.over(at(40), seconds(15)) == 4);
  CHECK(high.passes(4, seconds(15)) == kForever);
}
