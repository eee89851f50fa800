// The damping of capacity: shrink fast, grow slow.
//
// Over-quota leaves Pods pending while they hold quota; under-quota only delays. So a fall is
// followed after a short window and a rise after a long one. Everything here is integers and log
// time, so history replays exactly. docs/decisions/0002-damping-in-five-layers.md has the numbers
// of the layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/base/time.h"
#include "schema/configuration.h"

namespace fairlead {

/// Which extreme over a window counts.
enum class Extreme : std::uint8_t { least, greatest };

/// The extreme of a right-continuous step function over a sliding, closed window. It is a monotonic
/// queue: it holds only the steps that a later window can still contain, the extreme one first.
class SlidingExtreme {
 public:
  explicit SlidingExtreme(Extreme which) : which_(which) {}

  /// Sets the function to `value` from `at` on. Times do not go back.
  void push(LogTime at, Amount value);
  /// Drops every step and sets the function to `value` from `at` on.
  void restart(LogTime at, Amount value);
  /// Returns the extreme over [now - window, now]; 0 if empty. Drops steps that no later window
  /// contains.
  Amount over(LogTime now, Duration window);
  /// Returns when the extreme will first lie beyond `bound` (greatest: below it, least: above it)
  /// if nothing changes; kForever if never.
  LogTime passes(Amount bound, Duration window) const;
  /// Returns when, after `now`, the extreme will next change from a value beyond `bound` to the one
  /// behind it; kForever if never.
  LogTime changes_beyond(Amount bound, LogTime now, Duration window) const;
  bool empty() const { return steps_.empty(); }

  struct Step {
    Amount value;
    LogTime end;  ///< when the function left this value; kForever for the present one
    friend bool operator==(const Step&, const Step&) = default;
  };
  const std::vector<Step>& steps() const { return steps_; }
  /// Replaces the steps by steps() of another one with the same Extreme (from a snapshot).
  void adopt(std::vector<Step> steps) { steps_ = std::move(steps); }

  friend bool operator==(const SlidingExtreme&, const SlidingExtreme&) = default;

 private:
  bool dominates(Amount newer, Amount older) const {
    return which_ == Extreme::greatest ? newer >= older : newer <= older;
  }

  // The first step whose value lies beyond `bound`: values run from the extreme one to the present.
  std::vector<Step>::const_iterator first_beyond(Amount bound) const;

  Extreme which_;
  std::vector<Step> steps_;
};

/// Whether a fall is followed after the shrink window or at once (cordon, claim edit or delete,
/// detach).
enum class Fall : std::uint8_t { damped, at_once };
/// Whether growth may be accepted now (it is frozen while a source is stale).
enum class Growth : std::uint8_t { allowed, frozen };

/// What keeps growth back (damping_layers.h has the order in which it is checked).
enum class GrowthBar : std::uint8_t { none, frozen, min_grow_interval, deadband };

/// What let an accepted value grow: the last of the bars that held it. Where several bars end at
/// the moment of the growth, the one reported is the first in this order.
enum class GrowthCause : std::uint8_t {
  mass_shrink_hold,    ///< a loss of its cluster was held for the whole massShrinkHold
  second_observation,  ///< a second observation ended such a hold earlier
  grow_window,         ///< the least value of the window rose to it; also where it rose out of the
                       ///< deadband, and where nothing held it (a window of no length)
  min_grow_interval,   ///< the interval since the last growth
  deadband_max_age,    ///< the gap had been within the deadband for deadbandMaxAge
  deadband,  ///< the deadband ended earlier: the target is a value that `accepted` had lately,
             ///< or the configuration changed
};

/// Whether the first values of a source are accepted, and as what.
enum class FirstValues : std::uint8_t {
  wait,
  present,          ///< nothing changed for firstQuiet, or growWindow has no length
  least_of_window,  ///< growWindow has passed, and something kept changing
};
/// Returns which applies at `now` to a source that has values since `began` and has had its present
/// ones since `unchanged_since`; nullopt: it is not watched, so that it is not known when they
/// change.
FirstValues first_values(LogTime began, std::optional<LogTime> unchanged_since, LogTime now,
                         const DebounceSettings& settings);

/// Former values that are remembered, at most; the oldest is dropped. Growth back to a dropped
/// value is not taken for a recovery.
inline constexpr std::size_t kLeftMax = 256;

/// A value that accepted had.
struct FormerValue {
  Amount value = 0;
  LogTime until;  ///< when accepted left it

  friend bool operator==(const FormerValue&, const FormerValue&) = default;
};

/// Layer 2: one (cluster, flavor, resource) from usable to accepted.
struct DampedValue {
  Amount usable = 0;   ///< U: all eligible nodes
  Amount growing = 0;  ///< U without suppressed nodes: what growth may count on
  Amount accepted = 0;
  SlidingExtreme high{Extreme::greatest};
  SlidingExtreme low{Extreme::least};
  std::optional<LogTime> last_grow;
  std::optional<LogTime> gap_since;  ///< since when growTarget exceeds accepted
  /// Former values of accepted, each once, in the order in which it left them. The last kLeftMax at
  /// most.
  std::vector<FormerValue> left;
  /// What kept back a growth for which the grow window was open, at the last step. A hold of the
  /// cluster counts as frozen.
  GrowthBar held_by = GrowthBar::none;
  GrowthCause grew_by = GrowthCause::grow_window;  ///< the last time

  /// Sets the step functions to these values from `at` on.
  void observe(LogTime at, Amount usable_now, Amount growing_now);
  /// Sets the first accepted value of a source; `which` is not `wait`. It does not count as a
  /// growth for minGrowInterval.
  void accept_first(FirstValues which, LogTime now, const DebounceSettings& settings);
  /// Restarts the grow window at `now`, because the source was away.
  void begin_anew(LogTime now);
  /// Moves accepted by the rules at `now` and returns whether it changed. `quantum` is the
  /// least growth outside the deadband.
  bool step(LogTime now, const DebounceSettings& settings, Amount quantum, Fall fall,
            Growth growth);
  /// Returns when accepted left `value` last; nullopt if that is not remembered.
  std::optional<LogTime> left_at(Amount value) const;
  /// Returns when step could next change accepted if nothing else happens; kForever if never.
  LogTime next_deadline(LogTime now, const DebounceSettings& settings) const;

  friend bool operator==(const DampedValue&, const DampedValue&) = default;

 private:
  void move_to(LogTime now, Amount value);
  GrowthCause cause_of_growth(LogTime now, const DebounceSettings& settings, Amount target_before,
                              Amount target) const;
};

/// Layer 1: the penalty of one node name (RFC 2439). It survives a delete of the node.
struct FlapPenalty {
  std::int64_t penalty = 0;  ///< as of `at`
  LogTime at;
  std::optional<LogTime> suppressed_since;
  LogTime release_at = kForever;  ///< release_time as last scheduled in Cluster::releases

  /// Returns the penalty at `now`, decayed in steps of 1/64 half-life and rounded down (Q16 table).
  std::int64_t at_time(LogTime now, const DebounceSettings& settings) const;
  /// Adds one transition from eligible to ineligible. Returns true if that begins a suppression.
  bool add(LogTime now, const DebounceSettings& settings);
  /// Returns when the suppression ends if nothing is added; kForever if not suppressed.
  LogTime release_time(const DebounceSettings& settings) const;
  /// Ends the suppression at release_time.
  void release(LogTime now, const DebounceSettings& settings);

  friend bool operator==(const FlapPenalty&, const FlapPenalty&) = default;
};

/// The bound on a penalty.
inline constexpr std::int64_t kFlapPenaltyMax = 16000;

}  // namespace fairlead
