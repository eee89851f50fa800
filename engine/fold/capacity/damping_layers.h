// The layers that keep an accepted value from what its source offers, as one ordered list.
//
// DampedValue::step asks them what bars a growth, DampedSet when one ends by itself, and `why`
// which one holds a value and since when. Their order is the rule: of several that hold, the first
// is the one that is recorded and reported.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/fold/capacity/damping.h"

namespace fairlead {

/// What holds all values of a set at one moment, whatever a single value does.
struct Gate {
  Growth growth = Growth::allowed;      ///< frozen while the source is not live
  std::optional<LogTime> frozen_since;  ///< where that is known
  std::optional<LogTime> held_since;    ///< of a loss that is held (layer 3)
};

/// One value at one moment, as a layer sees it.
struct LayerMoment {
  const DampedValue& value;
  LogTime now;
  const DebounceSettings& settings;
  Amount quantum = 0;  ///< the least growth outside the deadband
  Amount target = 0;   ///< the least of the grow window: what `accepted` may grow to
  Gate gate = {};

  bool falls() const { return value.accepted > value.usable; }
  bool grows() const { return value.growing > value.accepted; }
};

/// Why a layer holds a value, in a sentence, and from when to when it does.
struct LayerText {
  std::string text;
  std::optional<LogTime> since;
  std::optional<LogTime> until;
};

/// Which moves a layer keeps back.
enum class LayerBars : std::uint8_t { growth, falls, both };

struct DampingLayer {
  const char* name;  ///< as answers have it
  LayerBars bars;
  GrowthBar recorded;                       ///< DampedValue::held_by of a growth that it bars
  bool (*holds)(const LayerMoment&);        ///< whether it keeps a move back now
  LogTime (*deadline)(const LayerMoment&);  ///< when it may end by itself; kForever: never
  LayerText (*explain)(const LayerMoment&, std::string_view resource);  ///< where it holds
};

/// Returns the layers in their order.
std::span<const DampingLayer> damping_layers();

/// Returns what a growth to `target`, which is above `accepted`, waits for.
GrowthBar growth_bar(const LayerMoment& at);
/// Returns the first time after `now` at which a layer may end by itself; kForever: none does.
LogTime next_layer_deadline(const LayerMoment& at);

}  // namespace fairlead
