// The damping of capacity: shrink fast, grow slow.
//
// Over-quota leaves Pods pending while they hold quota; under-quota only delays. So a fall is
// followed after a short window and a rise after a long one. Everything here is integers and log
// time, so history replays exactly. Layer numbers are those of
// docs/decisions/0002-damping-in-five-layers.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/base/time.h"
#include "schema/configuration.h"

namespace fairlead {

/// Which end of a window counts.
enum class Extreme : std::uint8_t { least, greatest };

/// The extreme of a right-continuous step function over a sliding, closed window, as a monotonic
/// queue: only the steps that some later window can still see, the extreme one first.
class SlidingExtreme {
 public:
  explicit SlidingExtreme(Extreme which) : which_(which) {}

  /// The function takes `value` from `at` on. Times do not go back.
  void push(LogTime at, Amount value);
  /// Forgets everything before `at`: the function is `value` from there on.
  void restart(LogTime at, Amount value);
  /// The extreme over [now - window, now]. Drops what no later window can see.
  Amount over(LogTime now, Duration window);
  /// When the extreme will first lie beyond `bound` (greatest: below it, least: above it) if
  /// nothing changes; kForever if never.
  LogTime passes(Amount bound, Duration window) const;
  /// When the extreme will next change after `now` from a value beyond `bound` to the one behind
  /// it; kForever if never.
  LogTime changes_beyond(Amount bound, LogTime now, Duration window) const;
  bool empty() const { return steps_.empty(); }

  struct Step {
    Amount value;
    LogTime end;  ///< when the function left this value; kForever for the present one
    friend bool operator==(const Step&, const Step&) = default;
  };
  const std::vector<Step>& steps() const { return steps_; }
  /// Takes steps() of another of the same kind.
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

/// What keeps growth back, in the order in which it is looked at.
enum class GrowthBar : std::uint8_t { none, frozen, min_grow_interval, deadband };

/// What let an accepted value grow: of the bars that held it the one that gave way last. Where
/// several end at the moment of the growth each of them is true; the one told is the first in this
/// order.
enum class GrowthCause : std::uint8_t {
  mass_shrink_hold,    ///< a loss of its cluster was held, as long as one may be
  second_observation,  ///< that hold ended before
  grow_window,  ///< the least of the window rose to it: also where it rose out of the deadband, and
                ///< where nothing held it (a window of no length)
  min_grow_interval,  ///< the interval since the last growth
  deadband_max_age,   ///< the gap had been too small, for so long
  deadband,  ///< the same, but it let it go before: to a value that accepted had had lately,
             ///< or because the configuration changed
};

/// Layer 2: one (cluster, flavor, resource) from usable to accepted.
struct DampedValue {
  Amount usable = 0;   ///< U: all eligible nodes
  Amount growing = 0;  ///< U without the nodes that flap: what growth may count on
  Amount accepted = 0;
  SlidingExtreme high{Extreme::greatest};
  SlidingExtreme low{Extreme::least};
  std::optional<LogTime> last_grow;
  std::optional<LogTime> gap_since;  ///< since when growTarget exceeds accepted
  std::map<Amount, LogTime> left;    ///< values that accepted had: when it left them
  /// What kept back a growth for which the grow window was open, when that was last looked at. A
  /// hold of the cluster counts as frozen.
  GrowthBar held_by = GrowthBar::none;
  GrowthCause grew_by = GrowthCause::grow_window;  ///< the last time

  /// The step functions take these values from `at` on.
  void observe(LogTime at, Amount usable_now, Amount growing_now);
  /// A cluster's first accepted value; no growth in the sense of minGrowInterval.
  void accept_first(Amount value) { accepted = value; }
  /// Growth must prove itself anew from `now` on: its source was away.
  void begin_anew(LogTime now);
  /// Moves accepted as the rules say at `now`; true if it changed.
  bool step(LogTime now, const DebounceSettings& settings, Amount quantum, Fall fall,
            Growth growth);
  /// What keeps accepted from growing to `target` at `now`, where the grow window has been open.
  GrowthBar growth_bar(LogTime now, const DebounceSettings& settings, Amount quantum, Amount target,
                       Growth growth) const;
  /// When step could next change accepted if nothing else happens; kForever if never.
  LogTime next_deadline(LogTime now, const DebounceSettings& settings) const;

  friend bool operator==(const DampedValue&, const DampedValue&) = default;

 private:
  void move_to(LogTime now, Amount value);
  GrowthCause cause_of_growth(LogTime now, const DebounceSettings& settings, Amount target_before,
                              Amount target) const;
  bool deadband_lets(LogTime now, const DebounceSettings& settings, Amount quantum,
                     Amount target) const;
};

/// Layer 1: the penalty of one node name (RFC 2439), kept also over a delete.
struct FlapPenalty {
  std::int64_t penalty = 0;  ///< as of `at`
  LogTime at;
  std::optional<LogTime> suppressed_since;
  LogTime release_at = kForever;  ///< release_time, as it was last asked for

  /// The penalty at `now`, in steps of 1/64 half-life, rounded down (Q16 table).
  std::int64_t at_time(LogTime now, const DebounceSettings& settings) const;
  /// One transition from eligible to ineligible. True if the node is suppressed from now on and was
  /// not before.
  bool add(LogTime now, const DebounceSettings& settings);
  /// When the suppression ends if nothing is added; kForever if not suppressed.
  LogTime release_time(const DebounceSettings& settings) const;
  /// Ends the suppression at release_time.
  void release(LogTime now, const DebounceSettings& settings);

  friend bool operator==(const FlapPenalty&, const FlapPenalty&) = default;
};

/// No penalty is ever greater.
inline constexpr std::int64_t kFlapPenaltyMax = 16000;

}  // namespace fairlead
