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
}

// Of clusters and pools, which note that they are valued, and of shares, which are from the start.
TEST_CASE("damped set: first values are those of the whole moment in which the set begins") {
  LogTime began = second(7), changed = began;
  bool valued = false, known = false;
  Liveness live{};
  for (bool* flag : {static_cast<bool*>(nullptr), &valued}) {
    SetFields fields{flag, known, began, changed, live};
    CHECK(begin_values(fields, second(7)));
    CHECK(began == second(7));
    CHECK(begin_values(fields, second(7)));  // that moment closes once more
    CHECK_FALSE(begin_values(fields, second(8)));
  }
  // A source that is live again begins a window, not a set: what appears then was zero before.
  known = true;
  for (bool* flag : {static_cast<bool*>(nullptr), &valued}) {
    SetFields fields{flag, known, began, changed, live};
    CHECK_FALSE(begin_values(fields, second(7)));
  }
}

TEST_CASE("damped set: a hold keeps every value but what falls at once, until it ends") {
  struct Cordon : SetRules {
    std::optional<FallCause> order;
    std::optional<FallCause> ordered(const CapacityKey&) const { return order; }
  };
  Bench<DampedValue> bench;
  bench.at(0, 100);
  bench.at(60, 100);
  bench.at(70, 10);
  bench.gate.held_since = second(70);
  CHECK(bench.deadline(70) == second(130));
  Cordon rules;
  CHECK_FALSE(bench.set().close(second(90), bench.settings, bench.gate, rules).values);
  rules.order = FallCause::cordon;
  CHECK(bench.set().close(second(90), bench.settings, bench.gate, rules).values);
  CHECK(bench.accepted() == 10);
}

// What a cluster and a pool remember of a value: both have a CapacityValue.
template <class Value>
void check_what_is_remembered() {
  Bench<Value> bench;
  bench.settings.min_grow_interval = {};
  bench.settings.grow_deadband_percent = 0;
  bench.at(0, 100);
  CapacityValue& value = *record_of(bench.values.begin()->second);
  const auto event = [&](std::uint64_t seq) { remember_change(value, Seq{seq}); };
  using Seqs = std::vector<Seq>;
  event(1);
  bench.at(60, 100);
  CHECK(value.moved == second(60));
  event(2);  // what comes to nothing is forgotten, what moves the value replaces the older events
  bench.at(70, 100);
  CHECK(value.causes == Seqs{Seq{1}});
  event(3);
  bench.at(80, 90);
  CHECK(value.causes == Seqs{Seq{1}, Seq{3}});
  bench.at(95, 90);
  CHECK(value.causes == Seqs{Seq{3}});
  CHECK(value.fell_by == FallCause::shrink_window);

  bench.at(100, 150);
  bench.gate.held_since = second(110);  // a growth that a hold kept back is said to have waited
  bench.at(400, 150);
  CHECK(value.damped.held_by == GrowthBar::frozen);
  bench.gate.held_since.reset();
  bench.rules.lets_fall = FallCause::second_observation;
  bench.at(401, 150);
  CHECK(value.damped.accepted == 150);
  CHECK(value.damped.grew_by == GrowthCause::second_observation);
}

TEST_CASE("damped set: clusters and pools remember alike why a value moved") {
  check_what_is_remembered<CapacityValue>();
  check_what_is_remembered<PoolValue>();
}

TEST_CASE("damped set: a first value does not wait for the end of a hold, nor does its deadline") {
  Bench<CapacityValue> bench;
  bench.gate.held_since = second(0);
  bench.settings.mass_shrink_hold = seconds(600);
  bench.at(0, 100);
  CHECK(bench.deadline(0) == second(60));
  CHECK(bench.at(60, 100).first);
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
