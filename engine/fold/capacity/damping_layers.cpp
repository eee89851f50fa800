#include "engine/fold/capacity/damping_layers.h"

#include <algorithm>
#include <array>

namespace fairlead {

namespace {

// The deadband stops drift, not a recovery: a value that `accepted` left lately may come back.
bool deadband_lets(const LayerMoment& at) {
  const DampedValue& value = at.value;
  const DebounceSettings& settings = at.settings;
  if (settings.grow_deadband_percent == 0) return true;
  const Int128 share = Int128{at.target} * settings.grow_deadband_percent / 100;
  if (Int128{at.target} - value.accepted >= std::max<Int128>(at.quantum, share)) return true;
  if (value.gap_since && *value.gap_since + settings.deadband_max_age <= at.now) return true;
  const auto before = value.left_at(at.target);
  return before && *before + settings.deadband_max_age > at.now;
}

// The text of a window that ends at `until`.
LayerText windowed(std::string text, LogTime until, Duration window, LogTime now) {
  if (until <= now || until == kForever) return {std::move(text), {}, {}};
  return {std::move(text), LogTime{until.ns - window.ns}, until};
}

bool wants_to_grow(const LayerMoment& at) { return at.target > at.value.accepted; }

LogTime never_by_itself(const LayerMoment&) { return kForever; }

// A new layer is a row here; `tests/unit/fold/damping_layers_test.cpp` has a sentence per row.
constexpr std::array<DampingLayer, 6> kDampingLayers{{
    {"frozen", LayerBars::growth, GrowthBar::frozen,
     [](const LayerMoment& at) {
       return at.gate.growth == Growth::frozen &&
              std::max(at.value.usable, at.target) > at.value.accepted;
     },
     never_by_itself,
     [](const LayerMoment& at, std::string_view) {
       return LayerText{"growth is frozen while the source is stale; then growWindow begins anew",
                        at.gate.frozen_since,
                        {}};
     }},
    {"massShrinkHold", LayerBars::both, GrowthBar::frozen,
     [](const LayerMoment& at) { return at.gate.held_since && (at.falls() || at.grows()); },
     [](const LayerMoment& at) {
       return at.gate.held_since ? *at.gate.held_since + at.settings.mass_shrink_hold : kForever;
     },
     [](const LayerMoment& at, std::string_view) {
       return LayerText{"a loss of most capacity waits for a second observation, at most " +
                            to_go_duration(at.settings.mass_shrink_hold),
                        at.gate.held_since, *at.gate.held_since + at.settings.mass_shrink_hold};
     }},
    {"shrinkWindow", LayerBars::falls, GrowthBar::none,
     [](const LayerMoment& at) { return at.falls(); },
     [](const LayerMoment& at) {
       return at.value.high.passes(at.value.accepted, at.settings.shrink_window);
     },
     [](const LayerMoment& at, std::string_view resource) {
       const Duration window = at.settings.shrink_window;
       return windowed("shrinkWindow " + to_go_duration(window) + " holds " +
                           amount_text(resource, at.value.accepted) + " over " +
                           amount_text(resource, at.value.usable),
                       at.value.high.passes(at.value.accepted, window), window, at.now);
     }},
    {"growWindow", LayerBars::growth, GrowthBar::none,
     [](const LayerMoment& at) { return at.grows() && !wants_to_grow(at); },
     [](const LayerMoment& at) {
       const Duration window = at.settings.grow_window;
       const LogTime opens = at.value.low.passes(at.value.accepted, window);
       // While a gap is open the target may still rise out of the deadband.
       const LogTime rises = at.value.gap_since
                                 ? at.value.low.changes_beyond(at.value.accepted, at.now, window)
                                 : kForever;
       return opens > at.now ? std::min(opens, rises) : rises;
     },
     [](const LayerMoment& at, std::string_view resource) {
       const Duration window = at.settings.grow_window;
       return windowed("growWindow " + to_go_duration(window) + ": the least usable in it is " +
                           amount_text(resource, at.target) + ", now " +
                           amount_text(resource, at.value.growing),
                       at.value.low.passes(at.value.accepted, window), window, at.now);
     }},
    {"minGrowInterval", LayerBars::growth, GrowthBar::min_grow_interval,
     [](const LayerMoment& at) {
       return wants_to_grow(at) && at.value.last_grow &&
              *at.value.last_grow + at.settings.min_grow_interval > at.now;
     },
     [](const LayerMoment& at) {
       return at.value.gap_since && at.value.last_grow
                  ? *at.value.last_grow + at.settings.min_grow_interval
                  : kForever;
     },
     [](const LayerMoment& at, std::string_view resource) {
       return LayerText{"minGrowInterval " + to_go_duration(at.settings.min_grow_interval) +
                            " since the last growth; next to " + amount_text(resource, at.target),
                        at.value.last_grow, *at.value.last_grow + at.settings.min_grow_interval};
     }},
    {"deadband", LayerBars::growth, GrowthBar::deadband,
     [](const LayerMoment& at) { return wants_to_grow(at) && !deadband_lets(at); },
     [](const LayerMoment& at) {
       return at.value.gap_since && at.settings.grow_deadband_percent != 0
                  ? *at.value.gap_since + at.settings.deadband_max_age
                  : kForever;
     },
     [](const LayerMoment& at, std::string_view resource) {
       LayerText text{"growth to " + amount_text(resource, at.target) +
                          " is less than growDeadbandPercent " +
                          std::to_string(at.settings.grow_deadband_percent),
                      at.value.gap_since,
                      {}};
       if (text.since) text.until = *text.since + at.settings.deadband_max_age;
       return text;
     }},
}};

}  // namespace

std::span<const DampingLayer> damping_layers() { return kDampingLayers; }

GrowthBar growth_bar(const LayerMoment& at) {
  for (const DampingLayer& layer : kDampingLayers)
    if (layer.bars != LayerBars::falls && layer.holds(at)) return layer.recorded;
  return GrowthBar::none;
}

LogTime next_layer_deadline(const LayerMoment& at) {
  LogTime next = kForever;
  for (const DampingLayer& layer : kDampingLayers)
    if (const LogTime when = layer.deadline(at); when > at.now) next = std::min(next, when);
  return next;
}

}  // namespace fairlead
