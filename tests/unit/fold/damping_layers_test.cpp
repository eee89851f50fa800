// Each layer: when it holds a value, when it may end by itself, and what `why` says of it.
#include "engine/fold/capacity/damping_layers.h"

#include <catch2/catch.hpp>
#include <set>

namespace fairlead::damping_layers_test {
namespace {

LogTime second(std::int64_t number) { return LogTime{} + seconds(number); }

// A value that was accepted as 100 at second 0, seen at second 1000 of a source that is live.
struct Moment {
  DampedValue value;
  DebounceSettings settings;
  Gate gate;
  LogTime now = second(1000);

  Moment() {
    settings.grow_deadband_percent = 0;
    settings.min_grow_interval = {};
    value.observe(second(0), 100, 100);
    value.accept_first(FirstValues::present, second(0), settings);
  }
  // It is offered `amount` from that second on.
  Moment& offered(std::int64_t from, Amount amount) {
    value.observe(second(from), amount, amount);
    return *this;
  }
  LayerMoment at() {
    DampedValue copy = value;
    return {value, now, settings, 1, copy.low.over(now, settings.grow_window), gate};
  }
  // The name and the text of the first layer that holds it; empty: none does.
  std::string held() {
    for (const DampingLayer& layer : damping_layers())
      if (layer.holds(at())) {
        const LayerText why = layer.explain(at(), "pods");
        std::string text = std::string(layer.name) + ": " + why.text;
        if (why.since) text += ", since " + to_rfc3339(*why.since).substr(11, 8);
        if (why.until) text += ", until " + to_rfc3339(*why.until).substr(11, 8);
        return text;
      }
    return "";
  }
  LogTime deadline() { return next_layer_deadline(at()); }
};

TEST_CASE("layers: none holds a value that is what its source offers") {
  Moment moment;
  CHECK(moment.held().empty());
  CHECK(moment.deadline() == kForever);
}

TEST_CASE("layers: each has a name of its own, and one that bars growth alone records it") {
  std::set<std::string> names;
  for (const DampingLayer& layer : damping_layers()) {
    CHECK(names.insert(layer.name).second);
    // A window decides the target, so it has nothing to record.
    if (layer.bars == LayerBars::falls) CHECK(layer.recorded == GrowthBar::none);
  }
}

TEST_CASE("layers: a source that is not live freezes growth, for as long as it takes") {
  Moment moment;
  moment.offered(0, 150);
  moment.gate = {Growth::frozen, second(900), {}};
  CHECK(moment.held() ==
        "frozen: growth is frozen while the source is stale; then growWindow "
        "begins anew, since 00:15:00");
  CHECK(growth_bar(moment.at()) == GrowthBar::frozen);
  moment.offered(1000, 50);  // falls are followed
  CHECK(moment.held().starts_with("shrinkWindow: "));
}

TEST_CASE("layers: a loss that is held keeps falls and growth until massShrinkHold has passed") {
  Moment moment;
  moment.gate.held_since = second(990);
  CHECK(moment.held().empty());
  const std::string held =
      "massShrinkHold: a loss of most capacity waits for a second observation, at most 1m0s, since "
      "00:16:30, until 00:17:30";
  moment.offered(995, 50);
  CHECK(moment.held() == held);
  CHECK(moment.deadline() == second(1010));  // the shrink window runs during the hold
  moment.now = second(1011);
  CHECK(moment.deadline() == second(1050));
  moment.offered(996, 150);
  CHECK(moment.held() == held);
}

TEST_CASE("layers: a fall waits for shrinkWindow") {
  Moment moment;
  moment.offered(995, 50);
  CHECK(moment.held() ==
        "shrinkWindow: shrinkWindow 15s holds 100 over 50, since 00:16:35, until "
        "00:16:50");
  CHECK(moment.deadline() == second(1010));
  CHECK(growth_bar(moment.at()) == GrowthBar::none);
}

TEST_CASE("layers: growth waits for growWindow") {
  Moment moment;
  moment.offered(900, 150);
  CHECK(moment.held() ==
        "growWindow: growWindow 5m0s: the least usable in it is 100, now 150, "
        "since 00:15:00, until 00:20:00");
  CHECK(moment.deadline() == second(1200));
  moment.now = second(1200);
  CHECK(moment.held().empty());
}

TEST_CASE("layers: growth waits for minGrowInterval since the last one") {
  Moment moment;
  moment.settings.min_grow_interval = seconds(60);
  moment.offered(0, 150);
  moment.value.last_grow = second(970);
  moment.value.gap_since = second(980);
  CHECK(moment.held() ==
        "minGrowInterval: minGrowInterval 1m0s since the last growth; next to "
        "150, since 00:16:10, until 00:17:10");
  CHECK(growth_bar(moment.at()) == GrowthBar::min_grow_interval);
  CHECK(moment.deadline() == second(1030));
}

TEST_CASE("layers: a growth within the deadband waits for deadbandMaxAge") {
  Moment moment;
  moment.settings.grow_deadband_percent = 2;
  moment.settings.deadband_max_age = seconds(1800);
  moment.offered(0, 101);
  moment.value.gap_since = second(300);
  CHECK(moment.held() ==
        "deadband: growth to 101 is less than growDeadbandPercent 2, since "
        "00:05:00, until 00:35:00");
  CHECK(growth_bar(moment.at()) == GrowthBar::deadband);
  CHECK(moment.deadline() == second(2100));
  moment.value.left.push_back({101, second(500)});  // a recovery
  CHECK(moment.held().empty());
}

TEST_CASE("layers: of two that hold, the first is reported") {
  Moment moment;
  moment.settings.min_grow_interval = seconds(60);
  moment.settings.grow_deadband_percent = 2;
  moment.offered(0, 101);
  moment.value.last_grow = second(970);
  CHECK(moment.held().starts_with("minGrowInterval: "));
  moment.gate.held_since = second(990);
  CHECK(moment.held().starts_with("massShrinkHold: "));
  moment.gate.growth = Growth::frozen;
  CHECK(moment.held().starts_with("frozen: "));
}

}  // namespace
}  // namespace fairlead::damping_layers_test
