// The frame of a damped set: the same history gives the same accepted values, whichever struct has
// them.
#include "engine/fold/capacity/damped_set.h"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

namespace fairlead::damped_set_test {
namespace {

LogTime second(std::int64_t number) { return LogTime{} + seconds(number); }

// A set over values of one of the three structs, and the moments of its life.
template <class Value>
struct Bench {
  std::map<CapacityKey, Value> values;
  bool valued = false, known = false;
  LogTime first_valued, last_changed;
  Liveness liveness = Liveness::live;
  DebounceSettings settings;
  Gate gate;
  SetRules rules;

  DampedSet<std::map<CapacityKey, Value>> set() {
    return {values, {&valued, known, first_valued, last_changed, liveness}};
  }
  Moved at(std::int64_t when, Amount offered, Liveness is = Liveness::live) {
    auto of = set();
    values.try_emplace(CapacityKey{"", "pods"});
    of.measure(
        of.changes([&](const CapacityKey&, const Value&) { return std::pair(offered, offered); }),
        second(when));
    of.set_liveness(is, second(when));
    gate.growth = is == Liveness::live ? Growth::allowed : Growth::frozen;
    rules.awaits_first = !known;
    return of.close(second(when), settings, gate, rules);
  }
  Amount accepted() { return damped_of(values.begin()->second).accepted; }
  LogTime deadline(std::int64_t when) {
    rules.awaits_first = !known;
    return set().next_deadline(second(when), settings, gate, rules);
  }
};

TEST_CASE("damped set: a set without a value waits for one, without a deadline") {
  Bench<DampedValue> bench;
  CHECK(bench.deadline(0) == kForever);
  CHECK_FALSE(bench.known);
}

TEST_CASE("damped set: first values are accepted once quiet, and said to be first") {
  Bench<DampedValue> bench;
  CHECK_FALSE(bench.at(0, 10).first);
  CHECK(bench.deadline(0) == second(60));
  bench.at(30, 12);
  CHECK(bench.deadline(30) == second(90));
  const Moved moved = bench.at(90, 12);
  CHECK(moved.first);
  CHECK_FALSE(moved.values);
  CHECK(bench.accepted() == 12);
  SECTION("not of a source whose changes are not reported: it cannot be quiet") {
    Bench<DampedValue> unwatched;
    unwatched.rules.reported = false;
    unwatched.at(0, 10);
    CHECK(unwatched.deadline(0) == second(300));
  }
  SECTION("not while the owner does not let them be") {
    Bench<DampedValue> waiting;
    waiting.rules.may_be_first = false;
    waiting.at(0, 10);
    CHECK_FALSE(waiting.at(300, 10).first);
  }
}

TEST_CASE("damped set: a value that appears later was zero before, one of the first was not") {
  Bench<DampedValue> bench;
  bench.at(0, 10);
  CHECK(bench.values.begin()->second.low.steps().size() == 1);
  bench.values.try_emplace(CapacityKey{"", "cpu"});
  bench.at(5, 10);
  CHECK(bench.values.begin()->second.low.steps().size() == 2);
  SECTION("a set without `valued` has first values in the whole moment in which it begins") {
    LogTime began = second(7), changed = began;
    bool known = false;
    Liveness live{};
    SetFields fields{nullptr, known, began, changed, live};
    CHECK(begin_values(fields, second(7)));
    CHECK_FALSE(begin_values(fields, second(8)));
  }
}

TEST_CASE("damped set: a hold keeps every value but what falls at once, until it ends") {
  struct Cordon : SetRules {
    int kept = 0;
    Fall fall = Fall::damped;
    Fall fall_of(const CapacityKey&) const { return fall; }
    void held(DampedValue&) { ++kept; }
  };
  Bench<DampedValue> bench;
  bench.at(0, 100);
  bench.at(60, 100);
  bench.at(70, 10);
  bench.gate.held_since = second(70);
  CHECK(bench.deadline(70) == second(130));
  Cordon rules;
  CHECK_FALSE(bench.set().close(second(90), bench.settings, bench.gate, rules).values);
  CHECK(rules.kept == 1);
  rules.fall = Fall::at_once;
  CHECK(bench.set().close(second(90), bench.settings, bench.gate, rules).values);
  CHECK(bench.accepted() == 10);
}

TEST_CASE("damped set: the values of a lost source stay, and grow a window after it is back") {
  Bench<DampedValue> bench;
  bench.at(0, 100);
  bench.at(60, 100);
  bench.at(100, 10, Liveness::lost);
  CHECK(bench.deadline(100) == kForever);
  CHECK_FALSE(bench.at(200, 10, Liveness::lost).values);
  bench.at(300, 150);
  CHECK(bench.deadline(300) == second(600));
  CHECK(bench.at(600, 150).values);
  CHECK(bench.accepted() == 150);
}

TEST_CASE("damped set: clusters, pools and shares follow the same history alike") {
  rc::prop("equal values, times of acceptance and deadlines", [] {
    Bench<CapacityValue> cluster;
    Bench<PoolValue> pool;
    Bench<DampedValue> share;
    std::int64_t now = 0;
    for (int i = 0; i < 60; ++i) {
      now += *rc::gen::inRange(0, 200);
      const Amount offered = *rc::gen::inRange(0, 200);
      const auto is = static_cast<Liveness>(*rc::gen::inRange(0, 12) / 5);
      const bool held = *rc::gen::inRange(0, 8) == 0;
      const auto step = [&](auto& bench) {
        bench.gate.held_since = held ? std::optional(second(now)) : std::nullopt;
        bench.at(now, offered, is);
        return std::tuple(bench.accepted(), bench.known, bench.deadline(now));
      };
      const auto expected = step(cluster);
      RC_ASSERT(step(pool) == expected);
      RC_ASSERT(step(share) == expected);
    }
  });
}

}  // namespace
}  // namespace fairlead::damped_set_test
