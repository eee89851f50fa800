// A set of values that are damped together: the capacity of a cluster, the pool's part of it, or a
// worker's share of a queue.
//
// measure, set_liveness, close and next_deadline are called once each in a close, in this order.
// State keeps the fields of a set in structs of its own, whose order is in snapshots, so a
// DampedSet works over them where they are. What an owner decides otherwise is in its rules
// (SetRules).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/damping_layers.h"
#include "engine/fold/capacity/liveness.h"

namespace fairlead {

inline DampedValue& damped_of(DampedValue& value) { return value; }
inline DampedValue& damped_of(CapacityValue& value) { return value.damped; }
inline DampedValue& damped_of(PoolValue& value) { return value.capacity.damped; }
/// What is remembered of a value beside its damping; null: nothing is.
inline CapacityValue* record_of(DampedValue&) { return nullptr; }
inline CapacityValue* record_of(CapacityValue& value) { return &value; }
inline CapacityValue* record_of(PoolValue& value) { return &value.capacity; }
inline const std::string& resource_of(const std::string& resource) { return resource; }
inline const std::string& resource_of(const CapacityKey& key) { return key.resource; }

/// What State keeps of a set beside its values.
struct SetFields {
  bool* valued;           ///< a value was measured; null: from the beginning on
  bool& known;            ///< the first values were accepted
  LogTime& first_valued;  ///< when a value was measured first, or when the source was live again
  LogTime& last_changed;  ///< of any usable value
  Liveness& liveness;     ///< at the last close
};

/// The rules of an owner; each owner hides the defaults that it changes.
struct SetRules {
  /// Whether the next value is a first one; values of a former source may be `known`.
  bool awaits_first = false;
  /// Whether it is known when the values change. If not, a first value waits for growWindow alone.
  bool reported = true;
  /// Whether what is measured may be accepted as a first value.
  bool may_be_first = true;
  /// What lets a value fall that nothing orders to fall at once.
  FallCause lets_fall = FallCause::shrink_window;

  /// Called before first values are accepted.
  void begin_first() {}
  /// Whether the value is of the source in force; the others stay as they are.
  template <class Key>
  bool in_force(const Key&) const {
    return true;
  }
  /// What orders the value to fall at once; nullopt: its falls are damped.
  template <class Key>
  std::optional<FallCause> ordered(const Key&) const {
    return std::nullopt;
  }
  template <class Value>
  void accepted_first(Value&) {}
};

/// What a close moved.
struct Moved {
  bool first = false;   ///< first values were accepted
  bool values = false;  ///< an accepted value took a step
};

/// Whether the values that are measured at `now` are the first ones of the set: then none was zero
/// before. They are in the whole moment in which the set begins, which may close more than once.
bool begin_values(SetFields& fields, LogTime now);
/// Returns whether first values are accepted at `now`, and as what.
FirstValues first_values_of(const SetFields& fields, LogTime now, const DebounceSettings& settings,
                            const SetRules& rules);
/// Returns the first time after `now` at which first values may be accepted.
LogTime first_deadline_of(const SetFields& fields, LogTime now, const DebounceSettings& settings,
                          const SetRules& rules);

/// Ends a moment of the value, whose accepted amount was `before`, or nullopt before its first one:
/// the pending events have moved it, or wait, or came to nothing. `falls` is the cause of a fall.
void conclude_changes(CapacityValue& value, std::optional<Amount> before, FallCause falls,
                      LogTime now);

template <class Values>
class DampedSet {
 public:
  /// A value that differs from what was measured last.
  struct Change {
    DampedValue* damped;
    Amount usable;
    Amount growing;
  };

  DampedSet(Values& values, SetFields fields) : values_(values), fields_(fields) {}

  /// Returns what differs from `offered(key, value)`, the Amounts {usable, growing} of now.
  template <class Offered>
  std::vector<Change> changes(const Offered& offered) {
    std::vector<Change> changes;
    for (auto& [key, value] : values_) {
      const auto [usable, growing] = offered(key, value);
      DampedValue& damped = damped_of(value);
      if (damped.high.empty() || usable != damped.usable || growing != damped.growing)
        changes.push_back({&damped, usable, growing});
    }
    return changes;
  }

  /// Feeds the changes to the step functions.
  void measure(const std::vector<Change>& changes, LogTime now) {
    const bool first = begin_values(fields_, now);
    for (const Change& change : changes) {
      if (change.damped->high.empty() && !first)
        change.damped->observe(LogTime{}, 0, 0);  // it was zero before it appeared
      change.damped->observe(now, change.usable, change.growing);
      fields_.last_changed = now;
    }
  }

  /// Folds the liveness of the source. Once it is live again growth waits for a whole window.
  /// Returns whether it changed.
  bool set_liveness(Liveness is, LogTime now) {
    if (is == fields_.liveness) return false;
    fields_.liveness = is;
    if (is != Liveness::live) return true;
    for (auto& [key, value] : values_) damped_of(value).begin_anew(now);
    fields_.first_valued = fields_.last_changed = now;
    return true;
  }

  /// Accepts the first values, or lets each value of the source in force step (layer 2). The values
  /// of a lost source stay.
  template <class Rules>
  Moved close(LogTime now, const DebounceSettings& settings, const Gate& gate, Rules&& rules) {
    if (fields_.liveness == Liveness::lost) return {};
    if (rules.awaits_first) return {accept_first(now, settings, rules), false};
    return {false, step(now, settings, gate, rules)};
  }

  /// Returns the first time after `now` at which a value may move if nothing happens; kForever if
  /// none may.
  template <class Rules>
  LogTime next_deadline(LogTime now, const DebounceSettings& settings, const Gate& gate,
                        const Rules& rules) {
    if ((fields_.valued && !*fields_.valued) || fields_.liveness == Liveness::lost) return kForever;
    if (rules.awaits_first) return first_deadline_of(fields_, now, settings, rules);
    if (gate.held_since) {  // no value moves before
      const LogTime ends = *gate.held_since + settings.mass_shrink_hold;
      return ends > now ? ends : kForever;
    }
    LogTime next = kForever;
    for (auto& [key, value] : values_)
      if (rules.in_force(key)) next = std::min(next, damped_of(value).next_deadline(now, settings));
    return next;
  }

 private:
  template <class Rules>
  bool accept_first(LogTime now, const DebounceSettings& settings, Rules& rules) {
    const FirstValues which = first_values_of(fields_, now, settings, rules);
    if (which == FirstValues::wait) return false;
    rules.begin_first();
    for (auto& [key, value] : values_) {
      damped_of(value).accept_first(which, now, settings);
      if (CapacityValue* record = record_of(value))
        conclude_changes(*record, std::nullopt, rules.lets_fall, now);
      rules.accepted_first(value);
    }
    fields_.known = true;
    return true;
  }

  // A hold stops every value that nothing orders to fall at once: its falls, because the loss is in
  // doubt, and its growth, because the sums are. A value that falls at once does not grow
  // meanwhile.
  template <class Rules>
  bool step(LogTime now, const DebounceSettings& settings, const Gate& gate, Rules& rules) {
    bool moved = false;
    for (auto& [key, value] : values_) {
      if (!rules.in_force(key)) continue;
      DampedValue& damped = damped_of(value);
      const std::optional<FallCause> ordered = rules.ordered(key);
      if (gate.held_since && !ordered) {
        // Recorded, so that the growth after the hold can name it (cause_of_growth).
        if (damped.growing > damped.accepted) damped.held_by = GrowthBar::frozen;
        continue;
      }
      const Amount before = damped.accepted;
      damped.step(now, settings, quantum_of(resource_of(key)),
                  ordered ? Fall::at_once : Fall::damped,
                  gate.held_since ? Growth::frozen : gate.growth);
      const bool grew = damped.accepted > before;
      if (grew && rules.lets_fall == FallCause::second_observation &&
          damped.grew_by == GrowthCause::mass_shrink_hold)
        damped.grew_by = GrowthCause::second_observation;
      moved |= damped.accepted != before;
      if (CapacityValue* record = record_of(value))
        conclude_changes(*record, before, ordered.value_or(rules.lets_fall), now);
    }
    return moved;
  }

  Values& values_;
  SetFields fields_;
};

}  // namespace fairlead
