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

  /// Called before first values are accepted.
  void begin_first() {}
  /// Whether the value is of the source in force; the others stay as they are.
  template <class Key>
  bool in_force(const Key&) const {
    return true;
  }
  /// How a fall of the value counts.
  template <class Key>
  Fall fall_of(const Key&) const {
    return Fall::damped;
  }
  /// Called for a value that a hold keeps as it is.
  void held(DampedValue&) {}
  template <class Key, class Value>
  void accepted_first(const Key&, Value&) {}
  /// Called after layer 2 has decided about the value, which was `before`.
  template <class Key, class Value>
  void stepped(const Key&, Value&, Amount /*before*/) {}
};

/// What a close moved.
struct Moved {
  bool first = false;   ///< first values were accepted
  bool values = false;  ///< an accepted value took a step
};

/// Whether the values that are measured at `now` are the first ones of the set: then none was zero
/// before. A set without `valued` has first values in the whole moment in which it begins.
bool begin_values(SetFields& fields, LogTime now);
/// Returns whether first values are accepted at `now`, and as what.
FirstValues first_values_of(const SetFields& fields, LogTime now, const DebounceSettings& settings,
                            const SetRules& rules);
/// Returns the first time after `now` at which first values may be accepted.
LogTime first_deadline_of(const SetFields& fields, LogTime now, const DebounceSettings& settings,
                          const SetRules& rules);

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
      rules.accepted_first(key, value);
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
      const Fall fall = rules.fall_of(key);
      if (gate.held_since && fall == Fall::damped) {
        rules.held(damped);
        continue;
      }
      const Amount before = damped.accepted;
      damped.step(now, settings, quantum_of(resource_of(key)), fall,
                  gate.held_since ? Growth::frozen : gate.growth);
      moved |= damped.accepted != before;
      rules.stepped(key, value, before);
    }
    return moved;
  }

  Values& values_;
  SetFields fields_;
};

}  // namespace fairlead
